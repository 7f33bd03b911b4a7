package folder

import "slices"

// changeKinds is a set of harmless differences between a line in the file and in the vault: written differently, with
// the same meaning.
type changeKinds uint16

const (
	asReference changeKinds = 1 << iota
	asEmbed
	asAddress
	asTag
	asCallout
	asComment
	asAttribute
	asTask
	asHeading
	asCode
	asDefinition
	asImage
	asFront
	asLayout
	asInvisible
)

// kindNames has the names of the kinds in a [Change], and their descriptions.
var kindNames = [...]struct {
	kind      changeKinds
	name, why string
}{
	{asReference, "reference", "links to pages, headings and blocks are references to them"},
	{asEmbed, "embed", "embedded pages and blocks are blocks that show them"},
	{asAddress, "address", "links to files of the folder lead to the assets they became"},
	{asTag, "tag", "tags are closed (#tag#), and a # that begins none is escaped"},
	{asCallout, "callout", "the kind of a callout is in upper case"},
	{asComment, "comment", "comments between %% are HTML comments"},
	{asAttribute, "attribute", "properties, names of blocks and attribute lists are attributes of their blocks"},
	{asTask, "task", "words of tasks are boxes"},
	{asHeading, "heading", "headings begin with number signs"},
	{asCode, "code", "indented code, blocks of Org mode and macros stand between fences or backticks"},
	{asDefinition, "definition", "links by name have their address in them"},
	{asImage, "image", "images in HTML, and sizes of images, are written as Markdown with an attribute list"},
	{asFront, "front-matter", "front matter is attributes of the document"},
	{asInvisible, "zero-width", "zero-width spaces are left out"},
	{asLayout, "layout", "numbers of lists count on, code spans and items of text stay on one line, marks of lists, quotes, tables, emphasis, rules and fences are written in one way, with blank lines between blocks"},
}

// Change counts lines that are written differently in the vault but mean the same.
type Change struct {
	// Kind is a short stable name; Why describes the change.
	Kind  string `json:"kind"`
	Why   string `json:"why"`
	Lines int    `json:"lines"`
}

// recordChange records that a line of a file is written differently.
func (im *importer) recordChange(path string, line int, k changeKinds) {
	for i, kind := range kindNames {
		if k&kind.kind != 0 {
			im.changes[i]++
		}
	}
	if im.o.OnChange != nil {
		im.o.OnChange(path, line, k.names())
	}
}

// names returns the names of kinds.
func (k changeKinds) names() []string {
	var names []string
	for _, kind := range kindNames {
		if k&kind.kind != 0 {
			names = append(names, kind.name)
		}
	}
	return names
}

// summarizeChanges adds the number of lines of each kind of change to the report, the most frequent kind first.
func (im *importer) summarizeChanges() {
	for i, kind := range kindNames {
		if im.changes[i] > 0 {
			im.report.Changes = append(im.report.Changes, Change{kind.name, kind.why, im.changes[i]})
		}
	}
	slices.SortStableFunc(im.report.Changes, func(a, b Change) int { return b.Lines - a.Lines })
}
