/* database.mjs: SQL beside the page: sql() in the database of the test, server() in that of the server. Environment: PSQL, DB and SERVER (conninfos).
 */
import { execFileSync } from 'node:child_process';

const ask = (conninfo, text) =>
    execFileSync(process.env.PSQL, ['-X', '-q', '-At', '-v', 'ON_ERROR_STOP=1', '-d', conninfo, '-c', text], { encoding: 'utf8' }).trim();

export const sql = (text) => ask(process.env.DB, text);
export const server = (text) => ask(process.env.SERVER, text);
