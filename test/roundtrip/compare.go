package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"
)

// compareAll compares each file that became a document with the export of that document. told has what the import
// announced, by path, and exported the documents by id.
func (r *result) compareAll(told map[string]*notes, exported map[string]string) error {
	listed := map[string]map[int]bool{}
	for _, p := range r.report.Problems {
		if listed[p.Path] == nil {
			listed[p.Path] = map[int]bool{}
		}
		listed[p.Path][p.Line] = true
	}
	for _, path := range slices.Sorted(maps.Keys(told)) {
		n := told[path]
		if n.id == "" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(path)))
		if err != nil {
			return err
		}
		document, found := exported[n.id]
		if !found {
			r.lost = append(r.lost, path+": the document was not exported")
			continue
		}
		r.files++
		r.compareFile(path, decode(data), document, n, listed[path])
	}
	return nil
}

// decode decodes a file as UTF-8 or GB 18030, and returns it without a byte order mark and with \n as line ends.
func decode(data []byte) string {
	if !utf8.Valid(data) {
		if decoded, err := simplifiedchinese.GB18030.NewDecoder().Bytes(data); err == nil {
			data = decoded
		}
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(string(data), "\ufeff"))
}

// splitFrontMatter splits a text into front matter and the rest, and returns the number of lines before the rest.
func splitFrontMatter(text string) (front, rest string, lines int) {
	if !strings.HasPrefix(text, "---\n") {
		return "", text, 0
	}
	front, rest, found := strings.Cut(text[4:], "\n---")
	if strings.HasPrefix(text[4:], "---") {
		front, rest, found = "", text[7:], true
	}
	if line, after, _ := strings.Cut(rest, "\n"); found && strings.TrimSpace(line) == "" {
		return front, after, strings.Count(text[:len(text)-len(after)], "\n")
	}
	return "", text, 0
}

// Patterns of Markdown that an import may write differently, so that its words are not compared.
var (
	blockAttributes = regexp.MustCompile(`\{: (?:[a-z_:-][a-z0-9_:-]*="[^"\n]*" ?)+\}`)
	blockIDs        = regexp.MustCompile(`\d{14}-[0-9a-z]{7}`)
	// targets are links, references, embeds, attributes and callouts.
	targets      = regexp.MustCompile(`!?\[\[[^\]]*\]\]|\]\((?:[^()\n]|\([^()\n]*\))*\)|\(\([^()]*\)\)|<[^<>]*>|\{\{[^{}]*\}\}|\{:[^{}]*\}|(?:^|\s)\^[\w-]+\s*$|\[!\w+[^\]]*\]`)
	taskWord     = regexp.MustCompile(`^([ \t>]*[-*+] )[A-Z-]+`) // the state of a task, such as TODO
	htmlTag      = regexp.MustCompile(`<[A-Za-z/][^<>]*>`)
	orgDelimiter = regexp.MustCompile(`(?i)#\+(?:BEGIN|END)_\w+`) // of an Org block
	itemNumber   = regexp.MustCompile(`^[ \t>]*(?:[-*+] +)*\d+[.)] `)
	propertyLine = regexp.MustCompile(`^[\s*+-]*[\p{L}\p{N}_./-]+::.*$`) // key:: value
	// referenceDefinition matches a use of one, too.
	referenceDefinition = regexp.MustCompile(`^ {0,3}\[[^\]^]+\]:.*$|\]\[[^\]]*\]`)
)

// compareFile compares one file with its exported document. listed are the lines that the report of the import names; line 0
// stands for the whole file.
func (r *result) compareFile(path, source, document string, n *notes, listed map[int]bool) {
	front, source, first := splitFrontMatter(source)
	kept, document, _ := splitFrontMatter(document)
	ours := strings.NewReplacer("aliases:", "alias:", "tag:", "tags:")
	if missing := missingWords(words(ours.Replace(front)), words(ours.Replace(kept)+"\n"+document)); missing != "" && !listed[0] {
		frontListed := false // whether the report lists a line of the front matter
		for line := range listed {
			frontListed = frontListed || line <= first
		}
		if !frontListed {
			r.lost = append(r.lost, fmt.Sprintf("%s: lost from the front matter: %s", path, missing))
		}
	}
	was, is := strings.Split(source, "\n"), strings.Split(blockAttributes.ReplaceAllString(document, ""), "\n")
	r.lines += countNonBlank(was)
	for _, i := range changedLines(was, is) {
		r.changed++
		if listed[first+i+1] || listed[0] {
			r.listed++
		}
	}
	quiet := slices.Clone(was) // lines that are not announced must be there, in order
	for i := range quiet {
		if at := first + i + 1; listed[at] || listed[0] || len(n.kinds[at]) > 0 {
			quiet[i] = ""
		}
	}
	for _, i := range changedLines(quiet, is) {
		r.unannounced = append(r.unannounced, fmt.Sprintf("%s:%d is not announced: %q", path, first+i+1, was[i]))
	}
	r.compareWords(path, first, was, words(document+"\n"+kept), n, listed)
}

// compareWords checks that the words of a file occur in the document, in their order.
func (r *result) compareWords(path string, first int, was, have []string, n *notes, listed map[int]bool) {
	was = strings.Split(htmlTag.ReplaceAllStringFunc(strings.Join(was, "\n"), func(tag string) string {
		return " " + strings.Repeat("\n", strings.Count(tag, "\n"))
	}), "\n")
	var all []string
	var lines []int
	for i, line := range was {
		if listed[first+i+1] || listed[0] {
			continue
		}
		if slices.Contains(n.kinds[first+i+1], "task") {
			line = taskWord.ReplaceAllString(line, "$1")
		}
		if slices.Contains(n.kinds[first+i+1], "code") {
			line = orgDelimiter.ReplaceAllString(line, "")
		}
		line = itemNumber.ReplaceAllString(line, "")
		for _, p := range []*regexp.Regexp{targets, propertyLine, referenceDefinition} {
			line = p.ReplaceAllString(line, " ")
		}
		for _, word := range words(line) {
			all, lines = append(all, word), append(lines, i)
		}
	}
	last := -1
	for _, at := range changedLines(all, have) {
		if i := lines[at]; i != last {
			last = i
			r.lost = append(r.lost, fmt.Sprintf("%s:%d the word %q is lost: %q", path, first+i+1, all[at], was[i]))
		}
	}
}

// words returns the words of a text, in lower case, without ids.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(blockIDs.ReplaceAllString(text, " ")), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
}

// missingWords returns the words that are not in have.
func missingWords(words, have []string) string {
	known := map[string]bool{}
	for _, word := range have {
		known[word] = true
	}
	var missing []string
	for _, word := range words {
		if !known[word] {
			missing = append(missing, word)
		}
	}
	return strings.Join(missing, " ")
}

// countNonBlank counts the lines that are not blank.
func countNonBlank(lines []string) (count int) {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			count++
		}
	}
	return count
}

// changedLines returns the indexes of the lines of a text, except blank ones, that are not in a longest common subsequence
// with another text.
func changedLines(was, is []string) (gone []int) {
	places := map[string][]int{}
	for i, line := range is {
		if line = strings.TrimRight(line, " \t"); line != "" {
			places[line] = append(places[line], i)
		}
	}
	type pair struct {
		line, place int
		before      *pair
	}
	var ends []*pair // by length of a common subsequence, the last pair of the one that ends earliest
	for i, line := range was {
		for _, place := range slices.Backward(places[strings.TrimRight(line, " \t")]) {
			at, held := slices.BinarySearchFunc(ends, place, func(p *pair, place int) int { return p.place - place })
			if held {
				continue // an earlier line is matched to this place
			}
			p := &pair{line: i, place: place}
			if at > 0 {
				p.before = ends[at-1]
			}
			if at == len(ends) {
				ends = append(ends, p)
			} else {
				ends[at] = p
			}
		}
	}
	same := map[int]bool{}
	if len(ends) > 0 {
		for p := ends[len(ends)-1]; p != nil; p = p.before {
			same[p.line] = true
		}
	}
	for i, line := range was {
		if !same[i] && strings.TrimSpace(line) != "" {
			gone = append(gone, i)
		}
	}
	return gone
}
