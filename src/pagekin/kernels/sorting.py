"""Sorting many short lists of whole numbers: by insertion or, from a few dozen numbers on, by digits (radix sort)."""

from pagekin.kernels.compile import inner
from pagekin.model.arrays import Int64s

FEW = 40  # numbers that are sorted faster by insertion
MOST_COUNTS = 1 << 10  # of digits: the lengths of the counts that `sort_keys` needs
_SHORT = 20  # bits that are sorted as two digits, more of them as four


@inner
def sort_keys(keys: Int64s, count: int, low: int, bits: int, spare: Int64s, counts: Int64s) -> None:
    """Sort keys[:count], which are not negative and have at most `low` + `bits` bits.

    The `low` lowest bits must be ascending already. `spare` is as long as the keys, `counts` as MOST_COUNTS.
    """
    if count < FEW:
        for k in range(1, count):
            key, j = keys[k], k
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return
    passes = 2 if bits <= _SHORT else 4  # an even number leaves the result in `keys`
    width = (bits + passes - 1) // passes
    for step in range(passes // 2):
        sort_by_digit(keys, spare, count, low + 2 * step * width, width, counts)
        sort_by_digit(spare, keys, count, low + (2 * step + 1) * width, width, counts)


@inner
def sort_by_digit(source: Int64s, target: Int64s, count: int, shift: int, width: int, counts: Int64s) -> None:
    """Write source[:count] to `target`, sorted by `width` bits from bit `shift` on; others stay in order."""
    mask, total = (1 << width) - 1, 0
    for digit in range(mask + 1):
        counts[digit] = 0
    for k in range(count):
        counts[(source[k] >> shift) & mask] += 1
    for digit in range(mask + 1):
        counts[digit], total = total, total + counts[digit]
    for k in range(count):
        digit = (source[k] >> shift) & mask
        target[counts[digit]] = source[k]
        counts[digit] += 1
