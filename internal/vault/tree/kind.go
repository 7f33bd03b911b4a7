package tree

// The kinds of blocks, as in blocks.type.
const (
	Doc       = "d"
	Heading   = "h"
	Paragraph = "p"
	List      = "l"
	Item      = "i"
	Table     = "t"
	Code      = "c"
	Math      = "m"
	Quote     = "b"
	Super     = "s"
	Break     = "tb"
	HTML      = "html"
	IFrame    = "iframe"
	Embed     = "query_embed"
	Database  = "av"
	Callout   = "callout"
	Video     = "video"
	Audio     = "audio"
	Widget    = "widget"
)

// nodeTypes are the names of the kinds in the DOM, the outline and .sy files.
var nodeTypes = map[string]string{
	Doc: "NodeDocument", Heading: "NodeHeading", Paragraph: "NodeParagraph", List: "NodeList",
	Item: "NodeListItem", Table: "NodeTable", Code: "NodeCodeBlock", Math: "NodeMathBlock",
	Quote: "NodeBlockquote", Super: "NodeSuperBlock", Break: "NodeThematicBreak",
	HTML: "NodeHTMLBlock", IFrame: "NodeIFrame", Embed: "NodeBlockQueryEmbed",
	Database: "NodeAttributeView", Callout: "NodeCallout", Video: "NodeVideo", Audio: "NodeAudio",
	Widget: "NodeWidget",
}

// NodeType returns the name of a kind in the DOM, the outline and .sy files, "" for an unknown one.
func NodeType(kind string) string { return nodeTypes[kind] }

// KindOf returns the kind of a node type, "" for an unknown one.
func KindOf(nodeType string) string {
	for kind, name := range nodeTypes {
		if name == nodeType {
			return kind
		}
	}
	return ""
}

// kindOrder has the results of [Sort] below 100.
var kindOrder = map[string]int{
	Doc: 0, Heading: 5, Paragraph: 10, Code: 10, Math: 10, Table: 10, HTML: 10,
	List: 20, Item: 20, Quote: 20, Callout: 20, Super: 30,
}

// Sort returns blocks.sort of a kind, by which search hits are sorted.
func Sort(kind string) int {
	if n, ok := kindOrder[kind]; ok {
		return n
	}
	return 100
}
