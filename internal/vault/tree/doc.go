// Package tree models notes: notebooks, documents, and the tree of blocks in each document. It does not know storage,
// Markdown or HTTP.
//
// A document has a root block of kind [Doc] with the document's id. A notebook has a hidden document, its page, with
// the notebook's id. A leaf has its Markdown in Text; a container has child blocks. Nothing here is safe for
// concurrent use: whoever changes a tree must be its only user.
package tree
