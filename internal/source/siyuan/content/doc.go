// Package content works on the content of blocks: how the Markdown of a document is shown and cut into windows
// ([ReadWindow]), how exact edits are made in it without touching what readers do not see ([Replace]), when and how a
// document may be overwritten ([Overwrite]), how block references are written ([Normalize]), and when two states of a
// block are the same ([State]).
//
// The kernel keeps attributes, ids among them, in lists within its Markdown ("kramdown"), on lines of their own or
// behind a stretch of text:
//
//	a paragraph
//	{: id="20240101000000-aaaaaaa" updated="20240101000000"}
//
// Readers get the text without those lists ([Visible]), and edits refer to that text. This package maps between the
// two forms.
//
// Callers have already checked whether a block may be read or written. What a text refers to is checked here.
package content
