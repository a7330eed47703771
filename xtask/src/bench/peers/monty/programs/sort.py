seed = 12345
numbers = []
for _ in range(30000):
    seed = seed * 48271 % 2147483647
    numbers.append(seed)
numbers.sort()
words = sorted(['w' + str(n % 9973) for n in numbers])
assert [numbers[7], words[7]] == [512073, 'w100']
