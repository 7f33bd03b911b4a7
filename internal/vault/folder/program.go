package folder

// program is who wrote the folders that are read, and in what its notes differ from plain Markdown with what Obsidian adds.
// What is nil is as there. Each has a file of its own: logseq.go is that of Logseq.
type program struct {
	// dialect tells its pages from others, where links and texts are read otherwise.
	dialect dialect
	// wrote reports whether a folder is one of the program.
	wrote func(s *source) bool
	// place gives a page another name, a folder (dir) for the pages below it, or other names that links know it by
	// (front.aliases), and reports whether it did: file and name are those of its file, dir is its path without extension.
	place func(pg *page) bool
	// head takes what a page says of itself off the top of its text, which begins behind the front matter, and counts the
	// lines of that.
	head func(f *front, body string) (rest string, lines int)
	// line writes a line of text that is not code: prefix is where it lies (indentation, marks of quotes and items), rest
	// the text. It says [writer.as] in what kind of way the line is written otherwise, and reports false for a line to
	// be written as anywhere.
	line func(w *writer, prefix, rest string) bool
}

// programs are asked in this order who wrote a folder.
func programs() []program {
	return []program{
		{dialect: logseq, wrote: (*source).isLogseq, place: placeLogseq, head: pageProperties, line: (*writer).logseqLine},
	}
}

// program is who wrote a folder.
func (s *source) program() program {
	for _, p := range programs() {
		if p.wrote(s) {
			return p
		}
	}
	return program{dialect: plain}
}
