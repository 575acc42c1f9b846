/* json.js: JSON whose numbers people have written. JavaScript holds 17 digits of a number, PostgreSQL and Kafka all of them: JSON.parse would
 * silently make another number of a long one.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/* A number without what may be written in more than one way: its digits, and the place of the last one. */
function plainly(number) {
    const [, sign, whole, part = '', power = 0] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number);
    const digits = (whole + part).replace(/^0+/, ''),
        kept = digits.replace(/0+$/, '');
    return kept && `${sign}${kept}e${Number(power) - part.length + digits.length - kept.length}`;
}

function altered(number) {
    const held = Number(number);
    return !Number.isFinite(held) || plainly(String(held)) !== plainly(number);
}

/* As JSON.parse. A number that the browser would change is an object that JSON.stringify writes as it was; a browser that knows no such
 * objects refuses it.
 */
export function parse(text) {
    const doc = JSON.parse(text),
        long = text.match(TOKEN)?.find((token) => token[0] !== '"' && altered(token));
    if (!long) return doc;
    if (!JSON.rawJSON) throw new RangeError(`this browser would change the number ${long}: write it as a text, or use the command line`);
    return JSON.parse(text, (_, value, { source }) => (typeof value === 'number' && altered(source) ? JSON.rawJSON(source) : value));
}

/* A document of the server, which is shown in any browser: inexact says that it is not to be sent back. */
export function read(text) {
    try {
        return parse(text);
    } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return { ...JSON.parse(text), inexact: true };
    }
}
