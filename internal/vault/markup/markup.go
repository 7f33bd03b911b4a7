// Package markup converts text to blocks and blocks to text: Markdown with attribute lists (kramdown), the editor's
// DOM, plain text and .sy files. It uses lute, SiYuan's own Markdown engine, and is the only package that does. All
// functions are safe for concurrent use, and none changes the blocks it is given.
//
// [Parse] and [ParseDOM] let lute make a syntax tree and convert it to blocks; [DOM] and [SY] convert blocks to a
// tree. The Markdown of a leaf is written as in SiYuan's table blocks, so that reading what was written changes
// nothing: Parse(Kramdown(b)) is b.
package markup
