package admin

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"collie/internal/source/siyuan"
	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/kernel"
)

// This file copies levels and switches between the vault and a SiYuan.

// Carry copies what a person has decided about notes from the vault to a SiYuan, or the reverse: levels of notebooks,
// switches of tools, the user's rules and the agent's memory. What the other side has already decided stays. Notes
// are not copied. It is not safe for concurrent use. Close ends it.
type Carry struct {
	// Levels has the levels that the other side has not decided.
	Levels []CarriedLevel `json:"levels"`
	// Switches, Rules and Memory say which of them are to be copied.
	Switches bool `json:"switches"`
	Rules    bool `json:"rules"`
	Memory   bool `json:"memory"`
	// Kept names what the other side has decided differently, which stays.
	Kept []string `json:"kept"`
	// Missing are notebooks with a level that do not exist on the other side.
	Missing []string `json:"missing"`

	to     *siyuan.Source
	absent bool           // the other side does not exist yet
	config map[string]any // of the side that is copied from
	close  []func()
}

// CarriedLevel is the level of one notebook, by its name and id on the other side.
type CarriedLevel struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Level string `json:"level"`

	level access.Level
}

// Empty reports whether there is nothing to copy.
func (c *Carry) Empty() bool { return len(c.Levels) == 0 && !c.Switches && !c.Rules && !c.Memory }

// CarrySide is one of the two sides: a kernel, or the vault.
type CarrySide struct {
	Kernel *kernel.Client
	Level  access.Level // of notebooks that no file lists
	// Absent says that the vault does not exist yet: it has nothing, and listing its notebooks would create it.
	Absent bool
	// Close, if not nil, closes what is behind the kernel.
	Close func()
}

// KernelSide returns a SiYuan at an address.
func KernelSide(address, token string) CarrySide {
	return CarrySide{
		Kernel: kernel.New(address, kernel.Options{Token: token, ReadTimeout: tryTime, Waits: []time.Duration{}}), Level: access.Read,
	}
}

// Compare finds what one side has and the other lacks. It changes nothing; Do does, and may create a vault that does
// not exist. The Carry closes both sides; if Compare fails, they are closed at once.
func Compare(ctx context.Context, from, to CarrySide) (*Carry, error) {
	c := &Carry{absent: to.Absent}
	source := c.addSide(from)
	c.to = c.addSide(to)
	for _, s := range []CarrySide{from, to} {
		if s.Close != nil {
			c.close = append(c.close, s.Close)
		}
	}
	return c, c.compare(ctx, source)
}

func (c *Carry) addSide(of CarrySide) *siyuan.Source {
	s := siyuan.New(siyuan.Options{Kernel: of.Kernel, DefaultLevel: of.Level, SwitchTTL: -1, Logger: slog.New(slog.DiscardHandler)})
	c.close = append(c.close, s.Close, of.Kernel.Close)
	return s
}

// compare fills in what there is to copy. If it fails, the Carry is closed.
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
	if !c.absent {
		if all, err = theirs.All(ctx); err != nil {
			return err
		}
	}
	for _, n := range notebooks {
		level := ours.Of(n.ID)
		switch same := sameNotebook(all, n); {
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

// sameNotebook returns the notebook with the same id, else the only one with the same name; nil if there is none.
func sameNotebook(all []kernel.Notebook, n kernel.Notebook) *kernel.Notebook {
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

// The text members of a tool config.
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

// sameSwitches reports whether two configs offer the same actions and treat results and writes alike.
func sameSwitches(a, b *access.Config) bool {
	strict := func(c *access.Config) bool { return c.Strict != nil && *c.Strict }
	return maps.Equal(a.ToolOn, b.ToolOn) && maps.EqualFunc(a.On, b.On, maps.Equal[map[string]bool, map[string]bool]) &&
		strict(a) == strict(b) && a.SoftErrors == b.SoftErrors && a.Slim == b.Slim && a.ReadOnly == b.ReadOnly && a.UploadMB == b.UploadMB
}

// Do copies everything. After an error, what was written stays, and another call continues with the rest.
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

// Close closes both sides. It may be called twice.
func (c *Carry) Close() {
	for _, end := range c.close {
		end()
	}
}
