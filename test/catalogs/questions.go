package catalogs

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"collie/internal/source/find"
)

//go:embed questions/*.txt dev/*.txt
var asked embed.FS

// Documents returns the recorded tools as documents for the search view, and their names with the server in
// front, as in "git/git_diff".
func Documents() (docs []find.Doc, names []string) {
	for _, s := range Servers() {
		for _, def := range s.Tools {
			g := gjson.ParseBytes(def)
			d := find.Doc{
				Server: s.Name, Name: g.Get("name").String(), Title: g.Get("title").String(), Description: g.Get("description").String(),
			}
			g.Get("inputSchema.properties").ForEach(func(name, arg gjson.Result) bool {
				d.Params = append(d.Params, name.String())
				d.Values += arg.Get("description").String() + "\n" + arg.Get("enum").Raw + arg.Get("items.enum").Raw
				return true
			})
			docs, names = append(docs, d), append(names, s.Name+"/"+d.Name)
		}
	}
	return docs, names
}

// Questions returns the questions in a file, and for each the names of the tools that answer it. The file is
// in one of the folders questions and dev, for example "questions/english".
func Questions(file string) (questions []string, answers [][]string, err error) {
	text, err := asked.ReadFile(file + ".txt")
	if err != nil {
		return nil, nil, fmt.Errorf("questions: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		question, right, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if ok && !strings.HasPrefix(question, "#") {
			questions, answers = append(questions, question), append(answers, strings.Split(right, ","))
		}
	}
	return questions, answers, nil
}

// Found searches for the questions in a file, as the search view does. It returns how many questions there are, for how
// many the first result is a right answer, and for how many one of the first five is.
func Found(file string) (questions, first, few int, err error) {
	docs, names := Documents()
	x := find.New(docs)
	asked, answers, err := Questions(file)
	for i, question := range asked {
		right := func(h find.Hit) bool { return slices.Contains(answers[i], names[h.Doc]) }
		hits := x.Search(question, 5)
		if len(hits) > 0 && right(hits[0]) {
			first++
		}
		if slices.ContainsFunc(hits, right) {
			few++
		}
	}
	return len(asked), first, few, err
}
