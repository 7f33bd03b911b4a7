// Package content knows what blocks hold: how the Markdown of a document is shown and cut into
// windows ([ReadWindow]), how exact edits are made in it without touching what readers do not see
// ([Replace]), when and how a document may be overwritten ([Overwrite]), how block references
// are written ([Normalize]), and when two states of a block are the same ([State]).
//
// The kernel keeps attributes, ids among them, in lists that stand in its Markdown
// ("kramdown"), on lines of their own or behind a stretch of text:
//
//	a paragraph
//	{: id="20240101000000-aaaaaaa" updated="20240101000000"}
//
// Readers get the text without them ([Visible]) and edits are written in that text; here is
// what puts the two together again.
//
// Whether a caller may read or write a block has been checked before; what a text refers to is
// checked here. Which tool does what is the tool folders'.
package content
