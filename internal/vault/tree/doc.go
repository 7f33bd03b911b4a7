// Package tree holds notes as they are thought of: notebooks, documents and the tree of blocks in each document. It
// knows nothing of storage, of Markdown or of HTTP.
//
// A document has a root block of kind [Doc] whose id is the document's; a notebook has a hidden document, its page,
// whose id is the notebook's. A leaf holds its Markdown in Text, a container holds other blocks. Nothing here is safe
// for concurrent use: whoever changes a tree holds it alone.
package tree
