package kernel

import "context"

// Neighbour is where a block is among others; ids are empty where there is nothing.
type Neighbour struct {
	Parent   ID `json:"parentID"`
	Previous ID `json:"previousID"`
	Next     ID `json:"nextID"`
}

// Neighbours tells where blocks are among others (block/getBlockTreeInfos). Those that do not
// exist have empty ones.
func (c *Client) Neighbours(ctx context.Context, ids []ID) (map[ID]Neighbour, error) {
	var out map[ID]Neighbour
	err := c.call(ctx, "/api/block/getBlockTreeInfos", readData, map[string]any{"ids": ids}, &out)
	return out, err
}
