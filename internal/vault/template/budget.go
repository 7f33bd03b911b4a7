package template

import "time"

// budget counts what an execution has used.
type budget struct {
	nodes, bytesMade, queries int
	deadline                  time.Time
}

// countParts counts n parts that are about to be evaluated.
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
		return errMade
	}
	if b.bytesMade += n; b.bytesMade > maxBuilt {
		return errMade
	}
	return nil
}

// weight returns the approximate printed length of values. A part that occurs several times was counted each time
// when its container was made, so no value takes long to walk.
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
			for name, held := range v {
				n += len(name) + 2 + weight(held)
			}
		case time.Time:
			n += 64
		default:
			n += 20
		}
	}
	return n
}
