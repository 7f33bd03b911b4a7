package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"collie/internal/config"
	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
	vaultadmin "collie/internal/vault/admin"
)

// Carry takes what a person has decided about notes from the vault to a SiYuan or the other way:
// levels of notebooks, switches of tools, the person's rules and the agent's memory. What is
// decided there already stays. Notes themselves are not moved. It is not safe for concurrent use.
// Close ends it.
type Carry struct {
	// Levels are those that the other side has not decided.
	Levels []CarriedLevel `json:"levels"`
	// Switches, Rules and Memory say which of them there are to be carried.
	Switches bool `json:"switches"`
	Rules    bool `json:"rules"`
	Memory   bool `json:"memory"`
	// Kept names what both sides have decided differently, where that of the other side stays.
	Kept []string `json:"kept"`
	// Missing are the notebooks with a level of their own that the other side does not have.
	Missing []string `json:"missing"`

	to     *siyuan.Source
	config map[string]any // of the side that is left
	vault  *vaultadmin.Vault
	close  []func()
}

// CarriedLevel is the level of one notebook, by its name and id on the side it goes to.
type CarriedLevel struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Level string `json:"level"`

	level access.Level
}

// Empty reports whether there is nothing to carry.
func (c *Carry) Empty() bool { return len(c.Levels) == 0 && !c.Switches && !c.Rules && !c.Memory }

// CarryToKernel looks at what the vault has and the kernel at an address lacks. It is nil where
// there is no vault. Nothing is changed before Do.
func CarryToKernel(ctx context.Context, cfg *config.Config, address, token string) (*Carry, error) {
	v := vaultToRead(cfg, nil)
	c := &Carry{vault: vaultadmin.New(v, vaultadmin.Options{})}
	if !c.vault.Exists() {
		return nil, nil //nolint:nilnil // the documented answer for none
	}
	from := c.side(vaultClient(v, nil), vaultLevel)
	c.to = c.side(kernelToCarry(address, token), access.Read)
	return c, c.compare(ctx, from)
}

// CarryToVault looks at what the kernel of a connection has and the vault lacks. A vault that is
// not there yet lacks everything, and Do may make it.
func CarryToVault(ctx context.Context, cfg *config.Config, env config.Env, choice KernelChoice) (*Carry, error) {
	v := newVault(cfg, env, slog.New(slog.DiscardHandler))
	c := &Carry{vault: vaultadmin.New(v, vaultadmin.Options{})}
	from := c.side(kernelToCarry(choice.URL, choice.Token.Reveal()), access.Read)
	c.to = c.side(vaultClient(v, nil), vaultLevel)
	return c, c.compare(ctx, from)
}

func kernelToCarry(address, token string) *kernel.Client {
	return kernel.New(address, kernel.Options{Token: token, ReadTimeout: tryTime, Waits: []time.Duration{}})
}

// side is one of the two sides.
func (c *Carry) side(k *kernel.Client, level access.Level) *siyuan.Source {
	s := siyuan.New(siyuan.Options{Kernel: k, DefaultLevel: level, SwitchTTL: -1, Logger: slog.New(slog.DiscardHandler)})
	c.close = append(c.close, s.Close, k.Close)
	return s
}

// compare fills what there is to carry. On an error the Carry is closed.
func (c *Carry) compare(ctx context.Context, from *siyuan.Source) error {
	err := c.compareLevels(ctx, from)
	if err == nil {
		err = c.compareConfigs(ctx, from)
	}
	if err != nil {
		c.Close()
	}
	return err
}

func (c *Carry) compareLevels(ctx context.Context, from *siyuan.Source) error {
	c.Levels, c.Kept, c.Missing = []CarriedLevel{}, []string{}, []string{}
	ours, err := from.Levels().Snapshot(ctx, true)
	if err != nil {
		return err
	}
	notebooks, err := ours.All(ctx)
	if err != nil {
		return err
	}
	notebooks = slices.DeleteFunc(slices.Clone(notebooks), func(n kernel.Notebook) bool { return !ours.Listed(n.ID) })
	if len(notebooks) == 0 {
		return nil
	}
	theirs, err := c.to.Levels().Snapshot(ctx, true)
	if err != nil {
		return err
	}
	var all []kernel.Notebook
	if c.vault.Exists() { // else it is the other side, and looking at its notebooks would make it
		if all, err = theirs.All(ctx); err != nil {
			return err
		}
	}
	for _, n := range notebooks {
		level := ours.Of(n.ID)
		switch same := counterpart(all, n); {
		case same == nil:
			c.Missing = append(c.Missing, n.Name)
		case !theirs.Listed(same.ID):
			c.Levels = append(c.Levels, CarriedLevel{string(same.ID), same.Name, level.String(), level})
		case theirs.Of(same.ID) != level:
			c.Kept = append(c.Kept, "level "+theirs.Of(same.ID).String()+" of "+same.Name)
		}
	}
	return nil
}

// counterpart is the notebook with the same id, else the only one with the same name; nil if there
// is none.
func counterpart(all []kernel.Notebook, n kernel.Notebook) *kernel.Notebook {
	var named []*kernel.Notebook
	for i := range all {
		if all[i].ID == n.ID {
			return &all[i]
		}
		if all[i].Name == n.Name {
			named = append(named, &all[i])
		}
	}
	if len(named) != 1 {
		return nil
	}
	return named[0]
}

// The members of a tool config that are texts.
const (
	rulesMember    = "userRulesText"
	memoryMember   = "agentSiyuanMemoryText"
	memoryAtMember = "agentSiyuanMemoryUpdatedAt"
)

func (c *Carry) compareConfigs(ctx context.Context, from *siyuan.Source) error {
	var err error
	if c.config, err = from.Switches().Raw(ctx); err != nil || c.config == nil {
		return err
	}
	raw, err := c.to.Switches().Raw(ctx)
	if err != nil {
		return err
	}
	ours, theirs := from.Switches().Current(ctx), c.to.Switches().Current(ctx)
	switch {
	case sameSwitches(ours, theirs):
	case raw == nil:
		c.Switches = true
	default:
		c.Kept = append(c.Kept, "switches of tools")
	}
	for _, t := range []struct {
		name         string
		carry        *bool
		ours, theirs string
	}{{"rules", &c.Rules, ours.UserRules, theirs.UserRules}, {"memory", &c.Memory, ours.Memory, theirs.Memory}} {
		switch {
		case t.ours == "" || t.ours == t.theirs:
		case t.theirs == "":
			*t.carry = true
		default:
			c.Kept = append(c.Kept, t.name)
		}
	}
	return nil
}

// sameSwitches reports whether two configs offer the same and treat results and writes alike.
func sameSwitches(a, b *access.Config) bool {
	strict := func(c *access.Config) bool { return c.Strict != nil && *c.Strict }
	return maps.Equal(a.ToolOn, b.ToolOn) && maps.EqualFunc(a.On, b.On, maps.Equal[map[string]bool, map[string]bool]) &&
		strict(a) == strict(b) && a.SoftErrors == b.SoftErrors && a.Slim == b.Slim && a.ReadOnly == b.ReadOnly && a.UploadMB == b.UploadMB
}

// Do carries everything. What was written before an error stays, and another try goes on with the
// rest.
func (c *Carry) Do(ctx context.Context) error {
	for _, l := range c.Levels {
		if _, err := c.to.Levels().Set(ctx, kernel.ID(l.ID), l.level); err != nil {
			return err
		}
	}
	if !c.Switches && !c.Rules && !c.Memory {
		return nil
	}
	_, err := c.to.Switches().Edit(ctx, func(raw map[string]any) error {
		if c.Switches {
			clear(raw)
			maps.Copy(raw, c.config)
			return nil
		}
		if c.Rules {
			raw[rulesMember] = c.config[rulesMember]
		}
		if c.Memory {
			raw[memoryMember], raw[memoryAtMember] = c.config[memoryMember], c.config[memoryAtMember]
		}
		return nil
	})
	return err
}

// Documents is how many documents the vault holds, which stay there; 0 where that is not known.
func (c *Carry) Documents(ctx context.Context) int {
	info, err := c.vault.Info(ctx)
	if err != nil {
		return 0
	}
	return info.Documents
}

// Close ends the connections to both sides. Safe to call twice.
func (c *Carry) Close() {
	for _, end := range c.close {
		end()
	}
	_ = c.vault.Close() // what was written is on disk already
}
