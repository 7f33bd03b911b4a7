package folder

// foreignProgram is a program that writes folders of notes, and how its notes differ from plain Markdown with Obsidian's
// extensions. A nil function means no difference. Each program has its own file, such as logseq.go.
type foreignProgram struct {
	// dialect marks its pages if links and texts are read differently.
	dialect dialect
	// isAuthor reports whether the program wrote a folder.
	isAuthor func(s *source) bool
	// placePage may give a page another name, another folder (dir) for the pages below it, or more names for links
	// (front.aliases), and reports whether it did. Before, file and name are those of its file, and dir is its path
	// without extension.
	placePage func(pg *page) bool
	// cutHead removes what a page says about itself from the top of its text, which begins after the front matter,
	// stores it in f, and counts the removed lines.
	cutHead func(f *frontMatter, body string) (rest string, lines int)
	// line writes a line of text that is not code. prefix has its indentation and the marks of quotes and items, rest
	// the text. It calls [writer.markKind] with the kind of difference, and returns false for a line to be written in
	// the normal way.
	line func(w *writer, prefix, rest string) bool
}

// programs returns all programs in the order in which they are asked.
func programs() []foreignProgram {
	return []foreignProgram{
		{dialect: logseqDialect, isAuthor: (*source).isLogseq, placePage: placeLogseq, cutHead: pageProperties, line: (*writer).logseqLine},
	}
}

// detectProgram returns the program that wrote the folder.
func (s *source) detectProgram() foreignProgram {
	for _, p := range programs() {
		if p.isAuthor(s) {
			return p
		}
	}
	return foreignProgram{dialect: plain}
}
