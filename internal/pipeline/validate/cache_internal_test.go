package validate

import (
	"fmt"
	"strings"
	"testing"

	"collie/internal/tool"
)

func newAction(schema string, strict bool) *tool.Action {
	return &tool.Action{InputSchema: []byte(schema), Strict: strict}
}

// Actions with equal schemas share one compiled form, unless only one of them is strict.
func TestCacheKnowsASchemaByItsContent(t *testing.T) {
	t.Parallel()
	var c cache
	first := c.get(newAction(`{}`, false))
	if c.get(newAction(`{}`, false)) != first {
		t.Error("an equal schema of another Action is another form")
	}
	if c.get(newAction(`{}`, true)) == first {
		t.Error("a strict action shares the form of one that is not")
	}
}

func TestCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	t.Parallel()
	var c cache
	used, unused := c.get(newAction(`"used"`, false)), c.get(newAction(`"unused"`, false))
	for i := range 10 * maxForms {
		c.get(newAction(fmt.Sprint(i), false))
		if c.get(newAction(`"used"`, false)) != used {
			t.Fatalf("a form in use was forgotten after %d others", i)
		}
	}
	if c.get(newAction(`"unused"`, false)) == unused {
		t.Error("a form that nobody uses was kept")
	}
	if n := len(c.young) + len(c.old); n > 2*maxForms {
		t.Errorf("%d forms are kept, want at most %d", n, 2*maxForms)
	}
}

func TestCacheIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	var c cache
	for i := range 64 {
		c.get(newAction(fmt.Sprint(i)+strings.Repeat(" ", 1<<20), false))
	}
	if n := len(c.young) + len(c.old); n > 2*maxSchemaBytes>>20 {
		t.Errorf("%d schemas of 1 MiB are kept, want at most %d", n, 2*maxSchemaBytes>>20)
	}
}

// Not parallel: it counts allocations.
func TestCacheHitAllocatesNothing(t *testing.T) {
	var c cache
	a := newAction(`{"type":"object"}`, false)
	if n := testing.AllocsPerRun(100, func() { c.get(a) }); n != 0 {
		t.Errorf("a hit allocates %v times, want 0", n)
	}
}
