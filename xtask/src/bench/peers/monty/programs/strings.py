text = ''
for i in range(60000):
    text += chr(97 + i % 26)
count = 0
for part in text.split('a'):
    count += part.upper().rjust(30, '-').find('Z')
for i in range(20000):
    count += ord(text[i : i + 10][3])
assert [count, len(text.replace('xyz', '_'))] == [2256859, 55386]
