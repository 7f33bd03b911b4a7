package template

import "time"

// budget counts what an execution has used, and stops it at the bounds.
type budget struct {
	nodes, bytesBuilt, queries int
	deadline                   time.Time
}

// countParts counts n parts that are about to be evaluated. The error says which bound was reached.
func (b *budget) countParts(n int) error {
	b.nodes += n
	switch {
	case b.nodes > maxNodes || n > maxNodes:
		return errNodes
	case time.Now().After(b.deadline):
		return errTime
	}
	return nil
}

// countBytes counts n bytes that a function is about to produce.
func (b *budget) countBytes(n int) error {
	if n < 0 || n > maxBuilt {
		return errBuilt
	}
	if b.bytesBuilt += n; b.bytesBuilt > maxBuilt {
		return errBuilt
	}
	return nil
}

// weight returns the approximate length of values when printed. It cannot take long: a part that occurs several times
// was counted each time, when the value that contains it was made.
func weight(values ...any) int {
	n := 0
	for _, value := range values {
		switch v := value.(type) {
		case nil, bool:
			n += 5
		case string:
			n += len(v)
		case []any:
			n += 2 + len(v) + weight(v...)
		case []string:
			for _, s := range v {
				n += 1 + len(s)
			}
		case []int:
			n += 2 + 21*len(v)
		case map[string]any:
			n += 5
			for name, element := range v {
				n += len(name) + 2 + weight(element)
			}
		case time.Time:
			n += 64
		default:
			n += 20
		}
	}
	return n
}
