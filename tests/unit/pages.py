#!/usr/bin/env python3
"""The pages hold together: every link of a page leads to a file and a heading that are there, every page is listed in docs/README.md, every page
that a source names exists, no page is outside the four kinds, a how-to page begins with what must be there, and the README leads to few of them. And this check itself notices a link that leads nowhere.
"""
import os
import re
import sys

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
KINDS = {'how-to', 'reference', 'explanation'}


def headings(text):
    """The anchors of a page, made as GitHub makes them."""
    text = re.sub(r'(?ms)^```.*?^```', '', text)
    anchors = set()
    for title in re.findall(r'(?m)^#+ +(.*)$', text):
        title = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', title).replace('`', '').strip().lower()
        anchors.add(re.sub(r'[^\w\- ]', '', title).replace(' ', '-'))
    return anchors


def doubles(page, text):
    """Headings of one level and of one text under the same heading: a reader who finds the first does not know of the second."""
    found, path, seen = [], [], set()
    for marks, title in re.findall(r'(?m)^(#+) +(.*)$', re.sub(r'(?ms)^```.*?^```', '', text)):
        path[len(marks) - 1:] = [title.strip()]
        if tuple(path) in seen:
            found.append(f'{page}: the heading "{title.strip()}" is there twice')
        seen.add(tuple(path))
    return found


def broken(page, text, read):
    """What is wrong with the links of one page; read gives the text of a file, or None."""
    found = []
    for target in re.findall(r'\]\(([^)\s]+)\)', re.sub(r'(?ms)^```.*?^```', '', text)):
        if re.match(r'[a-z]+:', target):
            continue
        path, _, anchor = target.partition('#')
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        there = read(path)
        if there is None:
            found.append(f'{page}: {target} leads to no file')
        elif anchor and path.endswith('.md') and anchor not in headings(there):
            found.append(f'{page}: {target} leads to no heading')
    return found


def unready(page, text):
    """A how-to page says under its heading what must be there before its first step."""
    begin = re.sub(r'(?s)\n## .*', '', text)
    return [] if re.search(r'(?m)^\*\*Before you begin:\*\* \S', begin) else [f'{page}: there is no **Before you begin:**']


README_MOST = 8


def crowded(text):
    """The pages of docs/ that the README leads to, if they are too many."""
    led = {target.partition('#')[0] for target in re.findall(r'\]\((docs/[^)\s]+\.md[^)\s]*)\)', text)}
    return [] if len(led) <= README_MOST else [f'README.md: leads to {len(led)} pages, at most {README_MOST}: {", ".join(sorted(led))}']


def read(path):
    """The text of a file, '' of a folder or a picture, None if there is none."""
    if os.path.isdir(path):
        return ''
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except UnicodeDecodeError:
        return ''
    except OSError:
        return None


def files():
    for folder, folders, names in os.walk('.'):
        folders[:] = [name for name in folders if not name.startswith('.') and name != 'build']
        for name in names:
            yield os.path.normpath(os.path.join(folder, name))


def main():
    wrong = []
    everything = sorted(files())
    pages = [path for path in everything if path.endswith('.md')]
    index = read('docs/README.md') or ''
    for page in pages:
        wrong += broken(page, read(page), read)
        wrong += doubles(page, read(page)) if page.startswith('docs/') else []
        wrong += unready(page, read(page)) if page.startswith('docs/how-to/') else []
        parts = page.split('/')
        if parts[0] != 'docs' or page == 'docs/README.md':
            continue
        if '(' + page[len('docs/'):] + ')' not in index:
            wrong.append(f'{page}: docs/README.md does not list it')
        if page != 'docs/tutorial.md' and (len(parts) != 3 or parts[1] not in KINDS):
            wrong.append(f'{page}: a page is the tutorial, or stands in ' + ', '.join(sorted(KINDS)))
    wrong += crowded(read('README.md'))
    for path in everything:
        if path.startswith('sql/migrations/') or path == 'tests/unit/pages.py':
            continue  # a migration that is there is not edited
        for named in re.findall(r'(?<![\w-])(docs/[\w./-]+\.(?:md|json))', read(path) or ''):
            if read(named) is None:
                wrong.append(f'{path}: names {named}, which is not there')
    sample = {'a.md': '# A b\n[x](b.md) [y](#a-b) [z](#no)', 'b.md': ''}
    assert broken('a.md', sample['a.md'], sample.get) == ['a.md: #no leads to no heading']
    assert broken('a.md', '[x](c.md)', sample.get) == ['a.md: c.md leads to no file']
    assert doubles('a.md', '# A\n## b\n# C\n## b\n## b') == ['a.md: the heading "b" is there twice']
    assert unready('a.md', '# A\n\n## B\n**Before you begin:** c\n') and not unready('a.md', '# A\n\n**Before you begin:** c\n')
    assert not crowded(' '.join(f'[x](docs/{n % 8}.md#a{n})' for n in range(20)))
    assert crowded(' '.join(f'[x](docs/{n}.md)' for n in range(9)))
    print('\n'.join(wrong))
    return 1 if wrong else 0


sys.exit(main())
