counts = {}
for i in range(60000):
    key = 'k' + str(i * 31 % 5003)
    counts[key] = counts.get(key, 0) + 1
seen = set()
for key, count in counts.items():
    if count > 11:
        seen.add(len(key) * count)
sums = {}
for i in range(60000):
    key = 'p' + str(i % 997)
    sums[key] = sums.get(key, 0) + i
assert [len(counts), len(seen), len(sums)] == [5003, 4, 997]
