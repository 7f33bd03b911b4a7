package notes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tidwall/gjson"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/upstream/modelapi"
	"collie/test/await"
)

// declaredArgs are alternative arguments for actions whose cases use arguments that the list of tools does not
// declare.
var declaredArgs = map[string]argsFunc{
	"av.set_cells": func(_ *workspace, p *place) object {
		return object{"avID": p.id("daba"), "rowID": p.id("rowd"), "columnID": p.id("colt"), "valueType": "text", "value": "new"}
	},
}

// TestClosedForms calls every action as a client has to that closes the schemas of the list: with declared arguments
// only, and in the strict form with null for all others.
func TestClosedForms(t *testing.T) {
	t.Parallel()
	forms := modelapi.APIs()
	actions := 0
	for _, def := range newGateway(t, newWorkspace(t, layout{})).list(t) {
		tl := def.Get("name").String()
		var names []string
		for _, v := range def.Get("inputSchema.properties.action.enum").Array() {
			if v.String() != "help" {
				names = append(names, v.String())
			}
		}
		actions += len(names)
		t.Run(tl, func(t *testing.T) {
			t.Parallel()
			c := &closedTest{sharedGateway: sharedGateway{t: t}, def: def}
			for _, form := range forms {
				c.forms = append(c.forms, compiledForm{form, compile(t, form.Form(def.Get("inputSchema").Value()))})
			}
			for i, name := range names {
				if await.Race && i%10 != 0 {
					continue
				}
				c.checkAction(t, tl+"."+name)
			}
			c.renewIfUsed()
			for _, nulls := range []bool{false, true} {
				args := c.closedArgs(object{"topic": names[0]}, nulls)
				if out := c.call(tl+".help", args); out.kind != "" {
					t.Errorf("help: %s", out.text)
				}
			}
		})
	}
	if want := 105; actions < want {
		t.Errorf("%d actions, want at least %d", actions, want)
	}
}

// closedTest calls the actions of one tool.
type closedTest struct {
	sharedGateway
	def   gjson.Result
	forms []compiledForm
}

// compiledForm is a tool's schema from the list, in the form for an API.
type compiledForm struct {
	modelapi.API
	schema *jsonschema.Schema
}

// compile compiles a JSON schema.
func compile(t *testing.T, v any) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encode(v))))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:list", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("mem:list")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// checkAction fails the test unless at least one case of an action runs with declared arguments only, without and with
// nulls.
func (c *closedTest) checkAction(t *testing.T, act string) {
	ways := []argsFunc{}
	if other := declaredArgs[act]; other != nil {
		ways = append(ways, other)
	}
	for _, k := range cases() {
		if k.act == act {
			ways = append(ways, k.args)
		}
	}
	if len(ways) == 0 {
		t.Errorf("%s has no case: TestEveryActionHasACase says where it belongs", act)
		return
	}
	vain := slices.ContainsFunc(cases(), func(k useCase) bool { return k.act == act && k.noEffect })
	for _, nulls := range []bool{false, true} {
		var last *outcome
		ran := slices.ContainsFunc(ways, func(way argsFunc) bool {
			c.renewIfUsed()
			c.setLevels(map[*place]access.Level{c.shut: access.Delete, c.hidden: access.Delete})
			given := object{}
			if err := json.Unmarshal(actionsByName()[act].Adapt(encode(way(c.workspace, c.shut)), ""), &given); err != nil {
				t.Fatal(err)
			}
			args := c.closedArgs(given, nulls)
			c.checkFits(t, act, args, nulls)
			last = c.call(act, args)
			c.used = c.used || len(last.writes) > 0
			return last.kind == "" || vain && last.kind == "not_found"
		})
		if !ran {
			t.Errorf("%s, nulls %t: no call of declared arguments runs: %s", act, nulls, last.text)
		}
	}
}

// closedArgs returns the arguments in args that the list declares, in the declared types. With nulls, all others
// are set to null.
func (c *closedTest) closedArgs(args object, nulls bool) object {
	return declaredOnly(c.def.Get("inputSchema.properties"), args, nulls)
}

// declaredOnly returns the members of args that props declares. With nulls, the other members are null.
func declaredOnly(props gjson.Result, args object, nulls bool) object {
	out := object{}
	props.ForEach(func(k, schema gjson.Result) bool {
		name := k.String()
		if v, ok := args[name]; ok {
			out[name] = inType(schema, v, nulls)
		} else if nulls && name != "action" {
			out[name] = nil
		}
		return true
	})
	return out
}

// inType returns v in the type that the schema declares: an object or a list as JSON text where it declares a string.
func inType(schema gjson.Result, v any, nulls bool) any {
	switch members, isObject := v.(object); {
	case schema.Get("type").String() == "string":
		if text, ok := v.(string); ok {
			return text
		}
		return string(encode(v))
	case isObject:
		return declaredOnly(schema.Get("properties"), members, nulls)
	}
	return v
}

// checkFits fails the test unless the arguments are valid in the form of the schema that each API gets.
func (c *closedTest) checkFits(t *testing.T, act string, args object, nulls bool) {
	t.Helper()
	_, name, _ := strings.Cut(act, ".")
	call := object{"action": name}
	maps.Copy(call, args)
	sent, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encode(call))))
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range c.forms {
		if form.Strict != nulls {
			continue
		}
		if err := form.schema.Validate(sent); err != nil {
			t.Errorf("%s as %s gets it: %v", act, form.Name, fmt.Sprint(err))
		}
	}
}
