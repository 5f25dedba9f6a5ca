// Package document is the common form of every report. A builder turns a result into a
// [Document] once; a renderer (terminal, Markdown, JUnit, page) knows the Document alone, and
// nothing of locks.
//
// A Document is a tree of blocks. A [Section] has a title and blocks of its own. The others
// are leaves: a [Paragraph], a [List] of items, a [Table], a [Chart], and the [Timeline] of a
// counterexample. A Section can name the media that show it, for blocks that some renderers
// have no room for. Test reports read the [Suite] values beside the blocks; the evidence of a
// case is made of blocks again.
//
// Text is plain: each renderer escapes it. A [Tone] only repeats in colour the meaning of the
// words. A Document is not safe for concurrent use while it is changed.
package document
