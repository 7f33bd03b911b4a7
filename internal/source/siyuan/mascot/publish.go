package mascot

import (
	"context"
	"encoding/json"

	"collie/internal/tool"
)

// This file shows the mascot's coins and the last call to SiYuan, through two files in the workspace. The plugin
// siyuan-plugins-mcp-sisyphus, called the public plugin here, reads and writes the same files.
const (
	folder     = "/data/storage/petal/siyuan-plugins-mcp-sisyphus/"
	statsPath  = folder + "puppyStats.json"
	eventsPath = folder + "puppyEvents.json"
)

// lastEvent is the last thing that happened, as the workspace's one event.
type lastEvent struct {
	Seq    int64  `json:"seq"`
	TS     int64  `json:"ts"`
	Tool   string `json:"tool"`
	Action string `json:"action"`
	Status string `json:"status"`
	// Class and Dangerous are set for running calls only, and are read by the panel only; the public
	// plugin does not know them.
	Class      tool.Class `json:"class,omitempty"`
	Dangerous  bool       `json:"dangerous,omitempty"` // a person is asked before it runs
	TotalCalls int64      `json:"totalCalls"`
	Balance    int64      `json:"balance"`
	ItemID     string     `json:"itemId,omitempty"`
	ItemLabel  string     `json:"itemLabel,omitempty"`
	ItemType   string     `json:"itemType,omitempty"`
	ItemEmoji  string     `json:"itemEmoji,omitempty"`
}

// action names what happened as the file of the coins does.
func (h *lastEvent) action() string { return h.Tool + "/" + h.Action }

// workspaceCoins returns the coins in the workspace, which are added to ours once: the plugin has counted them, and our
// file takes the place of its own. Until they are known nothing is written there.
func (p *Purse) workspaceCoins(ctx context.Context) (theirs coins, ok bool) {
	p.mu.Lock()
	joined := p.joined
	p.mu.Unlock()
	if !p.opts.Sync || p.opts.Kernel == nil || joined {
		return coins{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	raw, err := []byte(nil), p.opts.Verifier.Verify(ctx)
	if err == nil {
		if raw, err = p.opts.Kernel.ReadFile(ctx, statsPath); tool.KindOf(err) == tool.NotFound {
			err = nil
		}
	}
	if err != nil {
		p.log.Debug("coins of the workspace not read", "error", err)
		return coins{}, false
	}
	return readCoins(raw), true
}

// publish writes the workspace's files. A failure is only logged, since the mascot must not disturb anything.
func (p *Purse) publish(ctx context.Context, s *coins, h lastEvent) {
	if !p.opts.Sync || p.opts.Kernel == nil {
		return
	}
	if err := p.opts.Verifier.Verify(ctx); err != nil {
		p.log.Debug("mascot not written to the workspace", "error", err)
		return
	}
	h.Seq, h.TotalCalls, h.Balance = s.Seq, s.Earned, s.Balance
	shared := struct {
		TotalCalls int64  `json:"totalCalls"`
		Balance    int64  `json:"balance"`
		UpdatedAt  int64  `json:"updatedAt"`
		LastAction string `json:"lastAction,omitempty"`
	}{s.Earned, s.Balance, s.UpdatedAt, s.LastAction}
	for _, f := range [...]struct {
		path    string
		content any
	}{{statsPath, shared}, {eventsPath, h}} {
		raw, err := json.Marshal(f.content)
		if err == nil {
			err = p.opts.Kernel.WriteFile(ctx, f.path, raw)
		}
		if err != nil {
			p.log.Debug("mascot not written to the workspace", "path", f.path, "error", err)
			return
		}
	}
}
