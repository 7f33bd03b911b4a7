package template

import "time"

// budget counts what an execution has used.
type budget struct {
	nodes, made, queries int
	deadline             time.Time
}

// step counts n parts that are about to be evaluated. It writes nothing.
func (b *budget) step(n int) (string, error) {
	b.nodes += n
	switch {
	case b.nodes > maxNodes:
		return "", errNodes
	case time.Now().After(b.deadline):
		return "", errTime
	}
	return "", nil
}

// make counts n bytes that a function is about to make.
func (b *budget) make(n int) error {
	if b.made += n; b.made > maxMade || n > maxMade {
		return errMade
	}
	return nil
}

// weight is about how long values are when they are printed. The functions never give lists of lists, so it walks no
// more than there is in memory.
func weight(values ...any) int {
	n := 0
	for _, value := range values {
		switch v := value.(type) {
		case string:
			n += len(v)
		case []byte:
			n += 4 * len(v)
		case []any:
			n += len(v) + weight(v...)
		case []int:
			n += 20 * len(v)
		case map[string]any:
			for name, held := range v {
				n += len(name) + 2 + weight(held)
			}
		case map[string]string:
			for name, held := range v {
				n += len(name) + 2 + len(held)
			}
		case []map[string]any:
			for _, row := range v {
				n += weight(row)
			}
		default:
			n += 64
		}
	}
	return n
}
