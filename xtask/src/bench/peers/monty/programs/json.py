import json

rows = [{'id': n, 'name': f'row {n}', 'tags': ['a', 'b'], 'at': {'x': n / 3, 'y': None}} for n in range(2000)]
value = 0
for i in range(5):
    text = json.dumps(rows)
    value += len(text) + len(json.loads(text))
# Blanks after commas and colons, and other digits, make the text longer than elsewhere.
assert value > 800000
