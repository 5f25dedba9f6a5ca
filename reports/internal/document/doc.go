// Package document is what every report is made of. A builder turns a result into a
// [Document] once; a renderer (terminal, Markdown, JUnit, page) knows the Document alone, and
// nothing of locks.
//
// A Document is a tree of blocks. A [Section] has a title and blocks of its own. The others
// are leaves: a [Paragraph], a [List] of items, a [Table], a [Chart], and the [Timeline] of a
// counterexample. What one renderer has no room for stands in a Section that names the media
// it is for. Test reports read the [Suite] values beside the blocks; the evidence of a case is
// made of blocks again.
//
// Text is plain: each renderer escapes it. A [Tone] repeats in colour what words say already.
// Nothing here is safe for concurrent use while it is changed.
package document
