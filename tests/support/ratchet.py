"""What a check of the house still forgives, file by file: a list of lines "NUMBER FILE", whose numbers may only fall."""


def read(path):
    with open(path, encoding='utf-8') as file:
        return {name: int(number) for number, name in (line.split(' ', 1) for line in file.read().splitlines())}


def judge(listed, counted, what, command):
    """What is wrong, one line each: a file that has more than its number, or fewer, so that the number is to be lowered."""
    for path in sorted(set(listed) | set(counted)):
        may, has = listed.get(path, 0), counted.get(path, 0)
        if has > may:
            yield f'{path}: {has} {what}, at most {may}'
        elif has < may:
            yield f'{path}: {has} {what}, no longer {may}: {command} --lower'


def lower(path, listed, counted):
    """Writes the numbers that have fallen; none rises."""
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(f'{min(number, counted[name])} {name}\n' for name, number in sorted(listed.items()) if counted.get(name))


def self_test():
    assert list(judge({'a': 1}, {'a': 1}, 'x', 'y')) == []
    assert list(judge({'a': 1}, {'a': 2}, 'x', 'y')) == ['a: 2 x, at most 1']
    assert list(judge({}, {'a': 1}, 'x', 'y')) == ['a: 1 x, at most 0']
    assert list(judge({'a': 2}, {}, 'x', 'y')) == ['a: 0 x, no longer 2: y --lower']
