value = 0
for i in range(700000):
    value = (value + i * 7) % 1000003
    if i & 1:
        value ^= i
assert value == 693182
