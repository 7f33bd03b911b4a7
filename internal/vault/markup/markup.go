// Package markup turns text into blocks and blocks into text: Markdown with attribute lists (kramdown), the editor's
// DOM, plain text and .sy files. It stands on lute, the Markdown engine SiYuan itself uses, and is the only package
// that knows it. All functions are safe for concurrent use; none changes the blocks it is given.
//
// Markdown goes through lute's syntax tree: [Parse] and [ParseDOM] have lute make the tree and turn it into blocks,
// [DOM] and [SY] turn blocks into a tree again. The Markdown of a leaf is written the way SiYuan's blocks table shows
// it, so that reading what was written changes nothing: Parse(Kramdown(b)) is b.
package markup
