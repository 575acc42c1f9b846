#!/usr/bin/env python3
"""Words that the pages, the help, the messages and the comments do not use, each with what to write instead. And the form of messages: an error
begins in lower case and ends without a full stop; a hint is an imperative sentence or a command. And this check itself notices one of each.

A line of a page may quote a name that has such a word: what is in backquotes and in blocks of code is not read. Of C, texts and comments
are read, of SQL comments and texts: messages, hints, sentences of explain. Migrations that have landed are not read. Of tests only the
comments of scripts, SQL and C are read, and all that they should not have is counted.

Some words are still in many comments, and some pages have sentences that begin with what or who instead of a subject. tests/unit/english.txt
has the number of these for each file, which may only fall: `tests/unit/english.py --lower` writes the numbers that have fallen.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import ratchet

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
PAGES, TEXTS, COMMENTS = 'pages', 'texts', 'comments'
EVERYWHERE = (PAGES, TEXTS, COMMENTS)
# A glossary names what is not written.
EXEMPT = ('docs/reference/glossary.md',)
KNOWN = ('stands before the first section',)
PATTERNS = [  # regular expression, what to write, where
    (r'\bcan not\b', 'cannot', EVERYWHERE),
    (r'\b(come|comes|came) to hand\b', 'arrive', EVERYWHERE),
    (r'\b(to|must|cannot|could) be had\b', 'available, needed, created', EVERYWHERE),
    (r'\bgo(es|ing)? on\b(?! (a|the) )', 'continue', EVERYWHERE),
    (r'\b(gone|went) on\b', 'continued', (PAGES, TEXTS)),
    (r'\b(give[sn]?|gave|giving) back\b', 'return, release', EVERYWHERE),
    (r'\b(give[sn]?|gave|giving) it back\b', 'return it, release it', (PAGES, TEXTS)),
    (r'\banew\b', 'again', EVERYWHERE),
    (r'\b(told|tells?|telling)\b', 'report, say, show, notify', (PAGES, TEXTS)),
    (r'\bnobody\b', 'no executor, no session, no login', (PAGES, TEXTS)),
    (r'\bstands?\b(?! (still|for|in|by)\b)', 'is', EVERYWHERE),
    (r'\blook(s|ed)? (whether|again|once|if)\b', 'check', EVERYWHERE),
    (r'\b(the|and|or) the like\b|\band the like\b|\bor the like\b', 'and similar', EVERYWHERE),
    (r'\bone day\b|\bsome day\b', 'later', (PAGES, TEXTS)),
    (r'(^|[.;:|] )(?-i:Who) [a-z]+s? [a-z]', 'a named subject: the executor that ...', (PAGES,)),
    (r'\bbeside live work\b|\bbeside (claims|retries)\b', 'while', (PAGES, TEXTS)),
    (r'\bfor ever\b(?=[^.]*\bkept\b)|\bkept for ever\b', 'without limit', EVERYWHERE),
    (r'\b[0-9a-f]*[0-9][0-9a-f]*[a-f][0-9a-f]*\b(?<=\b\w{7})(?= \(commit)', 'no commit hash', (PAGES,)),
    (r'\bquiet hour\b|\bslow hour\b|\btried, (and )?not kept\b', 'no diary: bench/notes', (PAGES,)),
]
LIST = 'tests/unit/english.txt'
# Counted, not yet forbidden. A clause with what or who as a noun: "what is left", "for who waits"; "What:" of a header
# and a question are none.
OWED = [(re.compile(pattern, re.I), kinds) for pattern, kinds in (
    (r'\b(told|tells?|telling)\b', (COMMENTS,)),
    (r'\b(nobody|somebody|someone|whoever|whatever)\b', (PAGES, COMMENTS)),
    (r'(?:^|[-.;:,(|] ?|\b(?:of|to|for|with|by|from|at|on|in|and|or|than|but|as|that|says?|shows?|knows?|sees?|is|are|be) )(?:what|who)\b(?!:)(?![^.;|]*\?)',
     (PAGES, COMMENTS)),
    (r'\bbeside (?:the|a|an|others?|another|it)\b', (PAGES, COMMENTS)),
)]
with open('LAYERS', encoding='utf-8') as layers:
    FOLDERS = sorted(set(re.findall(r'(?m)^(\w+) *:', layers.read())) - {'tests', 'bench'})


def found(text, kind):
    for pattern, instead, kinds in PATTERNS:
        if kind in kinds and not any(known in text for known in KNOWN):
            match = re.search(pattern, text, re.I)
            if match:
                yield match[0].strip(), instead


def owed(text, kind):
    return sum(len(pattern.findall(text)) for pattern, kinds in OWED if kind in kinds)


def page_lines(text):
    """The prose of a page: without blocks of code, comments and what is in backquotes."""
    text = re.sub(r'(?ms)^( *)```.*?^\1```$|^<!--.*?-->$', lambda block: '\n' * block[0].count('\n'), text)
    text = re.sub(r'`[^`\n]*`', '`_`', text)
    return enumerate(re.sub(r'\]\([^)\n]*\)', '](_)', text).split('\n'), 1)


def c_parts(text):
    """(line, kind, text) of the texts and the comments of a C file."""
    for match in re.finditer(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', text, re.S):
        kind = COMMENTS if match[0].startswith('/') else TEXTS if match[0].startswith('"') else None
        if kind == TEXTS and re.fullmatch(r'"[\w./%:-]*"', match[0]):
            continue  # a name
        if kind:
            yield text.count('\n', 0, match.start()) + 1, kind, re.sub(r'\s*\n[\s*]*', ' ', match[0].strip('"'))


def sql_comments(text):
    """(line, text) of the comments of an SQL file; lines that follow each other are one."""
    for match in re.finditer(r'(?m)(?:^[ \t]*--[^\n]*\n)+|--[^\n]*', text):
        yield text.count('\n', 0, match.start()) + 1, re.sub(r'\s*\n[ \t]*--[ \t]*', ' ', match[0]).strip('- \n')


# A text of SQL. It may continue on the next line.
SQL_TEXT = r"'((?:[^']|''|'[ \t]*\n[ \t]*')*)'"


def joined(text):
    return re.sub(r"'[ \t]*\n[ \t]*'", '', text)


def sql_texts(text):
    """(line, text) of the texts of an SQL file; a name has no blank."""
    for match in re.finditer(r'--[^\n]*|/\*.*?\*/|' + SQL_TEXT, text, re.S):
        if match[1] and ' ' in match[1]:
            yield text.count('\n', 0, match.start()) + 1, joined(match[1])


def arguments(text, start):
    """The arguments of the call whose parenthesis opens before start, as texts of C."""
    depth, begin, found_ones = 1, start, []
    for token in re.finditer(r'/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|[][(){},]', text[start:], re.S):
        depth += {'(': 1, '[': 1, '{': 1, ')': -1, ']': -1, '}': -1}.get(token[0], 0)
        if depth == 0 or (token[0] == ',' and depth == 1):
            found_ones.append(text[begin:start + token.start()])
            begin = start + token.end()
        if depth == 0:
            return found_ones
    return found_ones


# In the usage of a shell function, WHAT and WHO are arguments.
ARGUMENT = re.compile(r'\b[A-Z]{3,}\b')


def script_comments(text):
    """(line, comment) of a shell script: comments of whole lines, and those behind a command, if they have no quote."""
    for number, line in enumerate(text.split('\n'), 1):
        match = re.match(r'\s*#(?!!)(?: ctest:.*)?(.*)$', line) or re.search(r'\s#( [^\'"]*)$', line)
        if match:
            yield number, ARGUMENT.sub('ARG', match[1])


def test_comments(name, text):
    if name.endswith(('.sh', '.bash')):
        return script_comments(text)
    if name.endswith('.sql'):
        return ((number, line[1]) for number, line in
                ((n, re.search(r'(?:^|\s)--(.*)$', part)) for n, part in enumerate(text.split('\n'), 1)) if line)
    return ((number, part) for number, kind, part in c_parts(text) if kind == COMMENTS)


MESSAGES = {'err_set': 5, 'field_wrong': 3}  # which argument is the message
# What a message may begin with: names.
NAMES = ('COPY', 'ID', 'JSON', 'Kafka', 'PAGE', 'PostgreSQL', 'SHELL', 'SQL')


def misshapen(message):
    word = re.match(r'[A-Za-z]+', message)
    if word and word[0][0].isupper() and word[0] not in NAMES:
        return 'begin in lower case'
    return 'end without a full stop' if re.search(r'[^.]\.$', message) else None


HINTS = {'err_set': 4}  # which argument is the hint
# What a hint in lower case begins with: a command that can be pasted.
COMMANDS = re.compile(r'(lockstep|publish|queue set|replay|run retry|psql|useradd|kafka-|cleanup\.policy=|max\.message\.bytes=|chmod|kill)')


def odd_hint(hint):
    """A hint is an imperative sentence or a command."""
    if '?' in hint:
        return 'say what to do instead of asking'
    return 'begin with a capital letter' if re.match(r'[a-z]', hint) and not COMMANDS.match(hint) else None


def c_hints(text):
    for call in re.finditer(r'\b(' + '|'.join(HINTS) + r')\(', text):
        given = arguments(text, call.end())
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', given[HINTS[call[1]]]) if len(given) > HINTS[call[1]] else []
        if texts:
            yield text.count('\n', 0, call.start()) + 1, ''.join(texts)


def c_messages(text):
    """(line, message) of the errors of a C file."""
    for call in re.finditer(r'\b(' + '|'.join(MESSAGES) + r')\(', text):
        given = arguments(text, call.end())
        texts = re.findall(r'"((?:[^"\\]|\\.)*)"', given[MESSAGES[call[1]]]) if len(given) > MESSAGES[call[1]] else []
        if texts:
            yield text.count('\n', 0, call.start()) + 1, ''.join(texts)


def sql_messages(text):
    for match in re.finditer(r'RAISE EXCEPTION\s+' + SQL_TEXT, text):
        yield text.count('\n', 0, match.start()) + 1, joined(match[1])


def sql_hints(text):
    """(line, hint) of the errors of an SQL file: each text with which a hint may begin."""
    for hint in re.finditer(r"\bHINT\s*=\s*((?:'(?:[^']|'')*'|[^';])*)", text):
        for begin in re.finditer(r"(?:^|\bTHEN\s+|\bELSE\s+|format\(\s*)" + SQL_TEXT, hint[1]):
            if ' ' in begin[1]:
                yield text.count('\n', 0, hint.start() + begin.start()) + 1, joined(begin[1])


def main():
    assert list(found('it can not be', PAGES)) == [('can not', 'cannot')]
    assert [kind for _, kind, _ in c_parts('f("a b"); /* c */ g("name")')] == [TEXTS, COMMENTS]
    assert not any(list(found(line, PAGES)) for _, line in page_lines('a `goes on` b\n```\ntells\n```\n'))
    assert list(sql_comments('-- a\n-- b\nSELECT 1; -- c\n')) == [(1, 'a b'), (3, 'c')]
    assert [part for _, part in sql_texts("-- 'a b'\nSELECT 'c', 'd e'")] == ['d e']
    assert list(found('Goes on.', PAGES)) == [('Goes on', 'continue')]
    assert list(c_messages('err_set(err, RC, f(a, ","), "", NULL, "A b" "c.", d)')) == [(1, 'A bc.')]
    assert list(sql_messages("RAISE EXCEPTION 'Oh no %', x")) == [(1, 'Oh no %')]
    assert list(sql_messages("RAISE EXCEPTION 'oh '\n    'no.'")) == [(1, 'oh no.')]
    assert [part for _, part in sql_texts("SELECT 'goes '\n    'on'")] == ['goes on']
    assert odd_hint('is it there?') and odd_hint('it is full') and not odd_hint('Wait.') and not odd_hint('lockstep help')
    assert list(sql_hints("USING HINT = CASE WHEN a THEN 'B c.' ELSE format('d %s', 'e f') END;")) == [(1, 'B c.'), (1, 'd %s')]
    assert list(c_hints('err_set(err, RC, E, "a", "B" "c.", "d")')) == [(1, 'Bc.')]
    assert misshapen('Oh no') and misshapen('oh no.') and not misshapen('oh ...') and not misshapen('PostgreSQL is full')
    assert owed('Nobody was told of what is left. Who asks?', COMMENTS) == 3 and owed('the reader that was told', PAGES) == 0
    assert owed('What: a gate. The executor that asks', COMMENTS) == 0 and owed('who owns it goes first', PAGES) == 1
    ratchet.self_test()
    wrong, counted = [], {}
    pages = ['README.md', 'CONTRIBUTING.md'] + sorted(glob.glob('docs/**/*.md', recursive=True))
    for page in pages:
        if page in EXEMPT:
            continue
        with open(page, encoding='utf-8') as file:
            for number, line in page_lines(file.read()):
                wrong += [f'{page}:{number}: "{bad}": write {instead}' for bad, instead in found(line, PAGES)]
                counted[page] = counted.get(page, 0) + owed(line, PAGES)
    for folder in FOLDERS:
        for name in sorted(glob.glob(folder + '/*.[ch]')):
            with open(name, encoding='utf-8') as file:
                text = file.read()
            for number, kind, part in c_parts(text):
                wrong += [f'{name}:{number}: "{bad}": write {instead}' for bad, instead in found(part, kind)]
                counted[name] = counted.get(name, 0) + owed(part, kind)
            wrong += [f'{name}:{number}: "{part}": {misshapen(part)}' for number, part in c_messages(text) if misshapen(part)]
            wrong += [f'{name}:{number}: hint "{part}": {odd_hint(part)}' for number, part in c_hints(text) if odd_hint(part)]
    for name in sorted(set(glob.glob('sql/**/*.sql', recursive=True)) - {'sql/schema.sql'}):
        with open(name, encoding='utf-8') as file:
            text = file.read()
        for number, part in sql_comments(text):
            wrong += [f'{name}:{number}: "{bad}": write {instead}' for bad, instead in found(part, COMMENTS)]
            counted[name] = counted.get(name, 0) + owed(part, COMMENTS)
        for number, part in sql_texts(text):
            wrong += [f'{name}:{number}: "{bad}": write {instead}' for bad, instead in found(part, TEXTS)]
        wrong += [f'{name}:{number}: "{part}": {misshapen(part)}' for number, part in sql_messages(text) if misshapen(part)]
        wrong += [f'{name}:{number}: hint "{part}": {odd_hint(part)}' for number, part in sql_hints(text) if odd_hint(part)]
    for ending in ('sh', 'bash', 'sql', 'c', 'h'):
        for name in glob.glob(f'tests/**/*.{ending}', recursive=True):
            with open(name, encoding='utf-8') as file:
                counted[name] = sum(owed(part, COMMENTS) + len(list(found(part, COMMENTS)))
                                    for _, part in test_comments(name, file.read()))
    counted = {name: count for name, count in counted.items() if count}
    listed = ratchet.read(LIST)
    if sys.argv[1:] == ['--lower']:
        ratchet.lower(LIST, listed, counted)
        return 0
    wrong += ratchet.judge(listed, counted, 'phrases to be replaced', 'tests/unit/english.py')
    print('\n'.join(wrong))
    return 1 if wrong else 0


sys.exit(main())
