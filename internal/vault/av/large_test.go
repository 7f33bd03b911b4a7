package av_test

import (
	"fmt"
	"testing"
	"time"

	"collie/test/await"
)

// newLargeVault returns a vault with a database of n rows. They are related, both ways, to n rows of a second database. The first
// database also has a rollup, a filter and a sort.
func newLargeVault(t testing.TB, n int) *vault {
	t.Helper()
	v, doc := newVaultWithDatabase(t)
	v.showDatabase(doc, "20240801120000-avblk02", second)
	v.addColumn(second, amount, "number")
	v.addColumn(db, relation, "relation")
	v.addColumn(db, rollup, "rollup")
	v.runOps(object{"action": "updateAttrViewColRelation", "avID": db, "id": second, "keyID": relation, "isTwoWay": true, "backRelationKeyID": back})
	v.setRollup("Sum")
	row := func(kind string, i int) string { return fmt.Sprintf("202408011%05d-%srows", i, kind) }
	var here, there []string
	amounts, relations, backs := []any{}, []any{}, []any{}
	for i := range n {
		here, there = append(here, row("abc", i), fmt.Sprintf("row %d", i)), append(there, row("xyz", i), "target")
		amounts = append(amounts, object{"keyID": amount, "blockID": row("xyz", i), "type": "number", "number": object{"content": i, "isNotEmpty": true}})
		related := func(kind string) object { return object{"blockIDs": []string{row(kind, i), row(kind, n-1-i)}} }
		relations = append(relations, object{"keyID": relation, "blockID": row("abc", i), "type": "relation", "relation": related("xyz")})
		backs = append(backs, object{"keyID": back, "blockID": row("xyz", i), "type": "relation", "relation": related("abc")})
	}
	v.addDetachedRows(db, here...)
	v.addDetachedRows(second, there...)
	v.setInFile(second, "keyValues", amount, "values", amounts)
	v.setInFile(second, "keyValues", back, "values", backs)
	v.setInFile(db, "keyValues", relation, "values", relations)
	v.setInView("sorts", []any{object{"column": rollup, "order": "DESC"}})
	v.setInView("filters", []any{object{"column": relation, "operator": "Is not empty"}})
	return v
}

// TestLargeDatabases checks that the time of each operation grows with the number of rows and not with its square. Operations
// of quadratic time take 16 times as long for four times as many rows.
func TestLargeDatabases(t *testing.T) {
	if testing.Short() {
		t.Skip("fills databases of thousands of rows")
	}
	small, big := newLargeVault(t, await.Fewer(500)), newLargeVault(t, await.Fewer(2000))
	for name, do := range map[string]func(*vault){
		"render a page": func(v *vault) { v.render(db, object{"pageSize": 50}) },
		"render all":    func(v *vault) { v.render(db, nil) },
		"search":        func(v *vault) { v.render(db, object{"query": "row 49", "pageSize": 50}) },
		"set a cell": func(v *vault) {
			v.setCell(second, amount, "20240801100001-xyzrows", object{"number": object{"content": 7, "isNotEmpty": true}})
		},
		"list": func(v *vault) { v.Ask("av/getAttributeViewPrimaryKeyValues", object{"id": db, "pageSize": 10}) },
		"add and remove": func(v *vault) {
			v.addDetachedRows(db, rowA, "A")
			v.runOps(object{"action": "removeAttrViewBlock", "avID": db, "srcIDs": []string{rowA}})
		},
		"remove many rows": func(v *vault) {
			v.runOps(object{"action": "removeAttrViewBlock", "avID": db, "srcIDs": someRows(await.Fewer(200))})
		},
	} {
		// The shortest times of several rounds are compared, because other work on the machine disturbs single rounds. With
		// the race detector, which slows some operations down more than others, times are not compared.
		const least, most = 3, 20
		// Four times as many rows may take 12 times as long, halfway to 16, and half a second more for whatever disturbs.
		within := func(a, b time.Duration) bool { return await.Race || b <= 12*a+500*time.Millisecond }
		a, b := time.Hour, time.Hour
		for round := 0; round < least || round < most && !within(a, b); round++ {
			a, b = min(a, timeOf(func() { do(small) })), min(b, timeOf(func() { do(big) }))
		}
		t.Logf("%s: %v for some rows, %v for four times as many", name, a, b)
		if !within(a, b) {
			t.Errorf("%s takes %v for some rows and %v for four times as many", name, a, b)
		}
	}
	if got := small.render(db, nil).Get("view.rowCount").Int(); got != int64(await.Fewer(300)) {
		t.Errorf("%d rows are left", got)
	}
}

// someRows returns the ids of n rows of the first database of newLargeVault, every second one.
func someRows(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("202408011%05d-abcrows", 2*i)
	}
	return rows
}

// timeOf returns how long a function takes.
func timeOf(do func()) time.Duration {
	begun := time.Now()
	do()
	return time.Since(begun)
}

func BenchmarkRender(b *testing.B) {
	v := newLargeVault(b, 2000)
	for b.Loop() {
		v.render(db, object{"pageSize": 50})
	}
}
