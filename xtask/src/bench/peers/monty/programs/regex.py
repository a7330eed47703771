import re

lines = [f'2024-0{1 + i % 9}-1{i % 10} user{i}@example.com GET /items/{i * 7}?q={i} 200' for i in range(4000)]
pattern = re.compile(
    r'^(\d{4})-(\d\d)-(\d\d) ([\w.]+)@([\w.]+) (GET|POST) (/[^ ?]*)(?:\?(\S*))? (\d{3})$'
)
found = 0
for line in lines:
    match = pattern.search(line)
    if match and match.group(9) == '200':
        found += len(match.group(7))
assert found + len(re.sub(r'[aeiou]+', '', '\n'.join(lines))) == 250601
