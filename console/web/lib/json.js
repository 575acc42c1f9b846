/* json.js: JSON whose numbers people have written. JavaScript holds 17 digits of a number, and 1.10 is 1.1 to it; PostgreSQL and Kafka keep
 * what is written. A number that JavaScript would write in another way is an object here, which has its text.
 */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const MARK = `number ${crypto.getRandomValues(new Uint32Array(4)).join('-')} `; // no text of a person begins so
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');

class Written {
    constructor(text) {
        this.text = text;
    }

    toString() {
        return this.text;
    }

    toJSON() {
        return MARK + this.text; // a text of JSON, of which write makes the number
    }
}

/* As JSON.parse. */
export function parse(text) {
    const doc = JSON.parse(text);
    const marked = text.replace(TOKEN, (token) => (token[0] === '"' || String(Number(token)) === token ? token : `"${MARK}${token}"`));
    if (marked === text) return doc;
    return JSON.parse(marked, (_, value) => (typeof value === 'string' && value.startsWith(MARK) ? new Written(value.slice(MARK.length)) : value));
}

/* As JSON.stringify. */
export const write = (value, indent) => JSON.stringify(value, null, indent).replace(MARKED, '$1');

/* A document of the server: in the members of these names numbers are as they were written, elsewhere they are numbers. */
export function read(text, names) {
    const reckoned = (value, name) => {
        if (names.includes(name) || value === null || typeof value !== 'object') return value;
        if (value instanceof Written) return Number(value.text);
        for (const [key, part] of Object.entries(value)) value[key] = reckoned(part, key);
        return value;
    };
    return reckoned(parse(text));
}
