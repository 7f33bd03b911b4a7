package folder

// foreignProgram is a program that writes folders of notes, with the differences of its notes from plain Markdown with
// Obsidian's extensions. A nil function means no difference. Each program has a file of its own, such as logseq.go.
type foreignProgram struct {
	// dialect is the dialect of its pages, if their links and texts are read differently.
	dialect dialect
	// isAuthor reports whether the program wrote a folder.
	isAuthor func(s *source) bool
	// placePage may change the name of a page, the folder for the pages below it (dir), and its names for links
	// (front.aliases); it reports whether it did. When it is called, file and name are those of the page's file, and
	// dir is the file's path without extension.
	placePage func(pg *page) bool
	// cutHead removes metadata from the top of a page's text, which begins after the front matter, stores it in f, and
	// counts the removed lines.
	cutHead func(f *frontMatter, body string) (rest string, lines int)
	// line converts a line of text that is not code. prefix has its indentation and the marks of quotes and items, rest
	// the text. It calls [writer.markKind] with the kind of change. If it returns false, the line is converted in the
	// normal way.
	line func(w *writer, prefix, rest string) bool
}

// programs returns all programs, in the order in which they are tried.
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
