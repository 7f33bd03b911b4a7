var e=Object.assign({"../../../docs/reference/api.md":`# The API of a gateway

Under the address of \`collie serve\`, with \`Authorization: Bearer TOKEN\`. \`GET /api/v1/openapi.json\` has the same for programs.
What goes wrong is answered as \`{"error":{"type":…,"message":…,"hint":…}}\`, also a path or a method that is not there (404, 405).
A body is JSON, of type \`application/json\`, unless it says otherwise; members that a type does not have are refused.
Optional are the members of what is sent, and those marked so of what is answered.

## GET /api/v1/mcp/servers

The MCP servers and how they are. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ServerList](#serverlist)

## GET /api/v1/mcp/servers/{name}

How one server is. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [OneServer](#oneserver)

## GET /api/v1/mcp/servers/{name}/logs

What a server has logged. For a person: the control key of the command line, or a browser that is signed in.

| query | meaning |
|---|---|
| since | lines from this time on (RFC 3339) |
| stream | lines of this stream; may be repeated |
| lines | the last ones, this many |
| follow | with 1, the answer is a stream of events that goes on with new lines |

- Answer: 200, [LogLines](#loglines)

## GET /api/v1/mcp/servers/{name}/changes

Tool definitions that wait for approval, by tool. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ChangedTools](#changedtools)

## POST /api/v1/mcp/servers/{name}/approve

Accept changed tool definitions, all where none is named. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Approval](#approval)
- Answer: 200, [Approved](#approved)

## POST /api/v1/mcp/servers/{name}/start

Start a server. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [OneServer](#oneserver)

## POST /api/v1/mcp/servers/{name}/stop

Stop a server. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [OneServer](#oneserver)

## POST /api/v1/mcp/servers/{name}/restart

Restart a server. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [OneServer](#oneserver)

## POST /api/v1/mcp/servers/{name}/refresh

Ask a server for its lists again. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [OneServer](#oneserver)

## POST /api/v1/settings/reread

Read the settings again, and answer once they are in effect. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [Reread](#reread)

## GET /api/v1/toolcache/stats

Figures about the tool cache. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, object

## POST /api/v1/toolcache/clear

Forget the lists of the named servers, or all of them for an empty list. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Clearing](#clearing)
- Answer: 200, [Cleared](#cleared)

## POST /api/v1/toolcache/flush

Write pending changes of the tool cache. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [None](#none)

## POST /api/v1/tools/rebalance

Choose the views of servers anew. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [None](#none)

## GET /api/v1/openapi.json

This document, as OpenAPI 3.1. For a token with the scope tools.

- Answer: 200, object

## GET /api/v1/tools

What a profile sees, what is switched off too. For a token with the scope tools.

| query | meaning |
|---|---|
| profile | as clients of this profile see it |
| await | first waits until the server of that name, or all for *, has started; may be repeated |

- Answer: 200, [ToolList](#toollist)

## GET /api/v1/lists/{kind}

An MCP list as clients get it: tools, resources, resourceTemplates or prompts. For a token with the scope tools.

| query | meaning |
|---|---|
| profile | as clients of this profile see it |
| await | first waits until the server of that name, or all for *, has started; may be repeated |

- Answer: 200, any JSON

## GET /api/v1/prompts

The prompts of all servers. For a token with the scope tools.

| query | meaning |
|---|---|
| profile | as clients of this profile see it |
| await | first waits until the server of that name, or all for *, has started; may be repeated |

- Answer: 200, [PromptList](#promptlist)

## POST /api/v1/prompts

Fill in a prompt, and answer with its MCP result. For a token with the scope tools.

- Body: [PromptRequest](#promptrequest)
- Answer: 200, any JSON

## POST /api/v1/resources

Read a resource, and answer with its MCP result. For a token with the scope tools.

- Body: [ResourceRequest](#resourcerequest)
- Answer: 200, any JSON

## POST /api/v1/calls

Call an action, and answer with its MCP result. For a token with the scope tools.

- Body: [CallRequest](#callrequest)
- Answer: 200, [CallAnswer](#callanswer)

## POST /api/v1/mcp/servers

Add servers to the settings; one that runs a command takes its name in typed, which the answer to a dry run has as type. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewServers](#newservers)
- Answer: 200, [Added](#added)

## GET /api/v1/mcp/registry

Ask the MCP registry of the settings for servers whose name contains words. For a person: the control key of the command line, or a browser that is signed in.

| query | meaning |
|---|---|
| words | part of a name |
| cursor | next of the page before |

- Answer: 200, [RegistryPage](#registrypage)

## GET /api/v1/mcp/registry/server

How a server of the registry would be added, and what it asks for. For a person: the control key of the command line, or a browser that is signed in.

| query | meaning |
|---|---|
| name | NAME or NAME@VERSION |
| kind | npm, pypi, oci or remote; empty for the first that can be run here |

- Answer: 200, [RegistryOffer](#registryoffer)

## POST /api/v1/mcp/registry/entry

Make the entry of a server of the registry, for POST /api/v1/mcp/servers; nothing is stored yet. For a person: the control key of the command line, or a browser that is signed in.

- Body: [FromRegistry](#fromregistry)
- Answer: 200, [RegistryEntry](#registryentry)

## GET /api/v1/mcp/servers/{name}/entry

The entry of a server in the settings; *** stands for each secret. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ShownEntry](#shownentry)

## PUT /api/v1/mcp/servers/{name}/entry

Change the entry of a server; *** keeps a secret, and where it runs something else or sends secrets elsewhere, typed takes its name. For a person: the control key of the command line, or a browser that is signed in.

- Body: [ChangedEntry](#changedentry)
- Answer: 200, [Added](#added)

## DELETE /api/v1/mcp/servers/{name}

Remove a server from the settings. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## POST /api/v1/mcp/servers/{name}/enable

Switch a server on in the settings. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [None](#none)

## POST /api/v1/mcp/servers/{name}/disable

Switch a server off, and keep it in the settings. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [None](#none)

## GET /api/v1/mcp/hosts

Other programs here that have MCP servers, and how many are new. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [HostList](#hostlist)

## POST /api/v1/mcp/import

Take over servers of another program; where one runs a command, typed takes the program's name. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Importing](#importing)
- Answer: 200, [Imported](#imported)

## POST /api/v1/mcp/servers/{name}/signin

Begin to sign in at a server, and say where a person does so. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [SigningIn](#signingin)

## GET /api/v1/mcp/servers/{name}/signin

How the last sign-in at a server is. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [SigningIn](#signingin)

## POST /api/v1/mcp/servers/{name}/signin/answer

Give a waiting sign-in the address at which the browser ended. For a person: the control key of the command line, or a browser that is signed in.

- Body: [PastedAddress](#pastedaddress)
- Answer: 200, [None](#none)

## DELETE /api/v1/mcp/servers/{name}/signin

Sign out of a server. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [SignedOut](#signedout)

## GET /api/v1/tools/switches

All tools with their risk, whether they are on, and what they cost a model. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [SwitchBoard](#switchboard)

## POST /api/v1/tools/switches

Switch a tool on or off, or an action of it; one of high risk is switched on with its name in typed. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Turning](#turning)
- Answer: 200, [None](#none)

## PUT /api/v1/tools/words

Set the alias and the description under which clients see a tool of a server; empty ones show its own. For a person: the control key of the command line, or a browser that is signed in.

- Body: [ToolWords](#toolwords)
- Answer: 204

## GET /api/v1/audit

Records of calls and changes, newest first. For a person: the control key of the command line, or a browser that is signed in.

| query | meaning |
|---|---|
| since | from this time on (RFC 3339) |
| until | before this time (RFC 3339) |
| tool | of this tool, or server |
| action | of this action |
| kind | of a kind such as call, call.result, read or change |
| outcome | ok, error, refused, cancelled or unknown |
| origin | direct, chat, cli-agent, mcp-local, mcp-remote or scheduled |
| session | of this session |
| call | of this call |
| text | with this text in them, in any case |
| without | leave out calls of this client that only read, such as those that collie pages makes to show something |
| before | that come before this place, which the answer before has as next |
| limit | at most this many; default 50, at most 500 |

- Answer: 200, [AuditList](#auditlist)

## GET /api/v1/audit/verify

Look for records that were changed, removed or moved. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [Verdict](#verdict)

## POST /api/v1/audit/export

All records that match, oldest first, a line each as on disk; that is put on record. For a person: the control key of the command line, or a browser that is signed in.

- Body: [AuditExported](#auditexported)
- Answer: 200, \`*/*\`

## GET /api/v1/doctor

Look for what could keep the gateway from working, as collie doctor does. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [Checks](#checks)

## GET /api/v1/clients

The MCP clients that Collie knows, and which are connected. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ClientList](#clientlist)

## POST /api/v1/clients/{name}

Write Collie into a client's settings; with dryRun, only say what would be written. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Connecting](#connecting)
- Answer: 200, [ClientChange](#clientchange)

## DELETE /api/v1/clients/{name}

Take Collie out of a client's settings, and end its token. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ChangedFiles](#changedfiles)

## GET /api/v1/tokens

The named tokens, without their secrets. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [TokenList](#tokenlist)

## POST /api/v1/tokens

Make a token, whose secret is told once; one that chats or approves takes its name in typed. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewToken](#newtoken)
- Answer: 201, [NewSecret](#newsecret)

## POST /api/v1/tokens/{name}/rotate

Give a token a new secret, which is told once. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [NewSecret](#newsecret)

## DELETE /api/v1/tokens/{name}

End a token. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## GET /api/v1/profiles

The profiles, and what the list of tools of each costs a model. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ProfileList](#profilelist)

## PUT /api/v1/profiles/{name}

Write a profile into the settings; what lets clients see or do more than before takes its name in typed. For a person: the control key of the command line, or a browser that is signed in.

- Body: [ProfileChange](#profilechange)
- Answer: 204

## DELETE /api/v1/profiles/{name}

Take a profile out of the settings; the query typed has its name. For a person: the control key of the command line, or a browser that is signed in.

| query | meaning |
|---|---|
| typed | its name |

- Answer: 204

## GET /api/v1/settings

Settings of the gateway, with the file that sets each. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [SettingList](#settinglist)

## PUT /api/v1/settings/{path}

Write a setting into the settings file; an error says what is wrong with the value. For a person: the control key of the command line, or a browser that is signed in.

- Body: [SettingValue](#settingvalue)
- Answer: 204

## DELETE /api/v1/settings/{path}

Remove a setting from the settings file, so that its default applies. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## PUT /api/v1/listener

Change address, port and TLS: the gateway opens the new listener, answers where it is, and ends the old one; if it cannot be opened nothing changes. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Listener](#listener)
- Answer: 200, [Moved](#moved)

## GET /api/v1/grants

What people have allowed for more than one call, and how often that was used. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [GrantList](#grantlist)

## DELETE /api/v1/grants/{id}

Take a grant back: calls that it covered are asked about again. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [Grant](#grant)

## GET /api/v1/agents

Agents, skills and context entries, and the files that are wrong. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [AgentList](#agentlist)

## GET /api/v1/agents/{kind}/{name}

The file of an agent, a skill or an entry; kind is agents, skills or context. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [AgentText](#agenttext)

## PUT /api/v1/agents/{kind}/{name}

Write such a file; a text that could not be used is refused with line and field. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewAgentText](#newagenttext)
- Answer: 200, [AgentText](#agenttext)

## DELETE /api/v1/agents/{kind}/{name}

Delete such a file. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [AgentText](#agenttext)

## POST /api/v1/agents/matches

Which context entries a text would bring in. For a person: the control key of the command line, or a browser that is signed in.

- Body: [MatchRequest](#matchrequest)
- Answer: 200, [MatchList](#matchlist)

## GET /api/v1/providers

The providers of language models; If-None-Match takes the ETag of the list. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ProviderList](#providerlist)

## POST /api/v1/providers

Set up a provider, once it has answered; openai, anthropic, ollama and others are known by name. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewProvider](#newprovider)
- Answer: 201, [Provider](#provider)

## POST /api/v1/providers/{name}/test

Ask a provider for its models, once with each key. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [Tests](#tests)

## DELETE /api/v1/providers/{name}

Remove a provider, and the secrets of its keys. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## GET /api/v1/models

Ask all providers for their models; those of providers that do not answer are missing. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [ModelNames](#modelnames)

## GET /api/v1/keys

The keys of providers and how they are, never the keys themselves. For a person: the control key of the command line, or a browser that is signed in.

| query | meaning |
|---|---|
| provider | those of this one |

- Answer: 200, [KeyList](#keylist)

## POST /api/v1/providers/{name}/keys

Add a key to a provider. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewKey](#newkey)
- Answer: 201, [Key](#key)

## PATCH /api/v1/providers/{name}/keys/{label}

Change a key, or enable or disable it. For a person: the control key of the command line, or a browser that is signed in.

- Body: [KeyChange](#keychange)
- Answer: 200, [Key](#key)

## DELETE /api/v1/providers/{name}/keys/{label}

Remove a key, and its secret. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## POST /api/v1/providers/{name}/keys/{label}/test

Try a key; an error says what is wrong with it. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [TestResult](#testresult)

## POST /api/v1/providers/{name}/keys/{label}/reset

Forget why a key is not used, so that it is tried at once. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [None](#none)

## GET /api/v1/caches

Figures about what is kept in memory of models. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [CacheList](#cachelist)

## POST /api/v1/caches/{name}/clear

Empty the cache of that name: models or transformers. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [Emptied](#emptied)

## POST /api/v1/sessions

Begin a session. For a token with the scope chat.

- Body: [NewSession](#newsession)
- Answer: 201, [Session](#session)

## GET /api/v1/sessions

Sessions, the one that changed last first, 50 a page. For a token with the scope chat.

| query | meaning |
|---|---|
| cursor | nextCursor of the page before |
| q | those with this in their title or messages |
| archived | with true, those that are archived |

- Answer: 200, [Page](#page)

## GET /api/v1/sessions/{id}

A session with its active path; If-None-Match takes its ETag. For a token with the scope chat.

- Answer: 200, [View](#view)

## PATCH /api/v1/sessions/{id}

Change a session; If-Match takes its ETag. For a token with the scope chat.

- Body: [Patch](#patch)
- Answer: 200, [Session](#session)

## DELETE /api/v1/sessions/{id}

Delete a session. For a token with the scope chat.

| query | meaning |
|---|---|
| force | with true, turns that run are cancelled first |

- Answer: 204

## POST /api/v1/sessions/{id}/turns

Have a message answered; the same turnId again is the same turn; with Accept: text/event-stream the answer is the events of the turn. For a token with the scope chat.

- Body: [TurnRequest](#turnrequest)
- Answer: 202, [Accepted](#accepted)
- As \`application/x-ndjson\`, for the control key: the body is the first line, and lines of type [AskAnswer](#askanswer) follow; the answer (200) has lines of type [AskLine](#askline) among others

## POST /api/v1/messages/{id}/regenerate

Have a message answered once more; with Accept: text/event-stream the answer is the events of the turn. For a token with the scope chat.

- Body: [AgainRequest](#againrequest)
- Answer: 202, [Accepted](#accepted)

## POST /api/v1/messages/{id}/continue

Have an answer that was cut off go on; with Accept: text/event-stream the answer is the events of the turn. For a token with the scope chat.

- Body: [AgainRequest](#againrequest)
- Answer: 202, [Accepted](#accepted)

## POST /api/v1/messages/{id}/edit

Say a message otherwise, as a branch, and have it answered; with Accept: text/event-stream the answer is the events of the turn. For a token with the scope chat.

- Body: [EditRequest](#editrequest)
- Answer: 202, [Accepted](#accepted)

## POST /api/v1/messages/{id}/select

Go on below a message with another one of its children. For a token with the scope chat.

- Body: [Selection](#selection)
- Answer: 200, [View](#view)

## POST /api/v1/messages/{id}/fork

Begin a session with a copy of the path to a message, of that and the subtree, or of all. For a token with the scope chat.

- Body: [Forking](#forking)
- Answer: 201, [Session](#session)

## DELETE /api/v1/messages/{id}

Delete a message with all below it. For a token with the scope chat.

| query | meaning |
|---|---|
| keepChildren | with true, itself alone |

- Answer: 204

## POST /api/v1/sessions/{id}/prune

Delete all branches but the active path. For a token with the scope chat.

- Answer: 200, [View](#view)

## GET /api/v1/sessions/{id}/export

A session as a file. For a token with the scope chat.

| query | meaning |
|---|---|
| format | json, which import takes, markdown, or html, a page that needs nothing else |
| redact | with true, without what tools were called with and what they answered |

- Answer: 200, \`application/json\` or \`text/markdown\`

## POST /api/v1/sessions/{id}/note

Write a session into a document of the notes, as fs.write does. For a token with the scope chat.

- Body: [NoteRequest](#noterequest)
- Answer: 200, [CallAnswer](#callanswer)

## POST /api/v1/sessions/import

Add a session from an export as JSON. For a token with the scope chat.

- Body: object
- Answer: 201, [Session](#session)

## GET /api/v1/turns/{id}

What a turn has come to so far. For a token with the scope chat.

- Answer: 200, [Snapshot](#snapshot)

## GET /api/v1/turns/{id}/events

The events of a turn, to its end; Last-Event-ID goes on where a stream ended. For a token with the scope chat.

- Answer: 200, \`text/event-stream\`

## POST /api/v1/turns/{id}/cancel

Cancel a turn. For a token with the scope chat.

| query | meaning |
|---|---|
| reason | what to say of it |

- Answer: 202, [None](#none)

## GET /api/v1/events

All events, in one stream that does not end; Last-Event-ID goes on where a stream ended. For a token with the scope chat.

| query | meaning |
|---|---|
| sessions | of these alone, with commas between |
| kinds | of these alone, with commas between: turn, session, call.started, call.done, person.asked, person.answered, questions, catalog, server.state, gateway.moved, browsers |

- Answer: 200, \`text/event-stream\`

## GET /api/v1/search

Messages with a text, the newest first. For a token with the scope chat.

| query | meaning |
|---|---|
| q | the text |
| limit | at most this many, 50 unless given |

- Answer: 200, [Findings](#findings)

## GET /api/v1/usage

Tokens and money by day, agent and model. For a token with the scope chat.

| query | meaning |
|---|---|
| since | from this time on (RFC 3339) |
| until | up to this time |

- Answer: 200, [UsageRows](#usagerows)

## POST /api/v1/blobs

Keep a picture or a text for messages of a session. For a token with the scope chat.

| query | meaning |
|---|---|
| session | its id |
| name | what to call it |

- Body: \`*/*\`
- Answer: 201, [File](#file)

## GET /api/v1/blobs/{sha256}

An attachment. For a token with the scope chat.

- Answer: 200, \`*/*\`

## GET /api/v1/siyuan/connections

The connections to SiYuan, and which is used; never their tokens. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [KernelList](#kernellist)

## PUT /api/v1/siyuan/connections/{name}

Save a connection to SiYuan, or change one, once its kernel has answered. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewKernel](#newkernel)
- Answer: 200, [KernelFacts](#kernelfacts)

## DELETE /api/v1/siyuan/connections/{name}

Remove a connection to SiYuan, and the secret of its token. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## POST /api/v1/siyuan/connections/{name}/test

Ask the kernel of a connection who it is. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [KernelFacts](#kernelfacts)

## PUT /api/v1/siyuan/current

Choose the connection that tools work with, or the built-in vault (vault). For a person: the control key of the command line, or a browser that is signed in.

- Body: [KernelName](#kernelname)
- Answer: 204

## GET /api/v1/questions

What waits for a person, the oldest first. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [QuestionList](#questionlist)

## POST /api/v1/questions/{id}

Answer a question; where it has a name, a yes needs that name, and where it has a form, its content; the first answer counts. For a person: the control key of the command line, or a browser that is signed in.

- Body: [GivenAnswer](#givenanswer)
- Answer: 200, [None](#none)

## GET /api/v1/browsers

The browsers in which a person has signed in. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [BrowserList](#browserlist)

## POST /api/v1/browsers/links

Make a link with which one browser can sign in, within two minutes. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NewLink](#newlink)
- Answer: 201, [Link](#link)

## DELETE /api/v1/browsers/{id}

Sign a browser out. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 204

## POST /api/v1/translations

English texts of the gateway, such as errors and notices, in another language; those it does not know stay as they are. For a person: the control key of the command line, or a browser that is signed in.

- Body: [Untranslated](#untranslated)
- Answer: 200, [Translated](#translated)

## GET /api/v1/notes/levels

What tools may do in each notebook. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [LevelList](#levellist)

## POST /api/v1/notes/levels

Set the level of a notebook; to raise it, its name is sent in typed. For a person: the control key of the command line, or a browser that is signed in.

- Body: [LevelChange](#levelchange)
- Answer: 200, [LevelList](#levellist)

## GET /api/v1/notes/writes

The writes of the last days, the newest first. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [WriteList](#writelist)

## GET /api/v1/notes/writes/{id}

A write, what was there before it, and what has changed since. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [OneWrite](#onewrite)

## POST /api/v1/notes/writes/{id}/undo

Take a write back. For a person: the control key of the command line, or a browser that is signed in.

- Body: [None](#none)
- Answer: 200, [None](#none)

## GET /api/v1/notes/rules

The rules that a person has given models for the notes, one a line. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [NoteRules](#noterules)

## PUT /api/v1/notes/rules

Replace these rules. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NoteRules](#noterules)
- Answer: 204

## GET /api/v1/notes/memory

What models have kept for later, the /AGENTS.md of the notes. For a person: the control key of the command line, or a browser that is signed in.

- Answer: 200, [NoteRules](#noterules)

## PUT /api/v1/notes/memory

Replace this memory. For a person: the control key of the command line, or a browser that is signed in.

- Body: [NoteRules](#noterules)
- Answer: 204

# Types

## Accepted

| member | type | | meaning |
|---|---|---|---|
| assistantMessageId | string |  |  |
| state | string |  |  |
| turnId | string |  |  |

## Action

| member | type | | meaning |
|---|---|---|---|
| Aliases | object of string or null |  | Aliases maps other names of arguments that the Source accepts to the real names. |
| Changed | boolean |  | Changed says that the definition is not the one that was first seen or that a person has accepted since. |
| Common | boolean |  | Common actions show their signature in the grouped view. A Tool without any Common action shows its first actions there. |
| Dangerous | boolean |  | Dangerous actions need a person's confirmation, whoever calls. |
| DangerousWith | string |  | DangerousWith is the argument that makes a single call dangerous; see [Action.Asks]. |
| Definition | any JSON |  |  |
| Description | string |  | Title and Description are taken from Definition; both may be empty. |
| Destructive | boolean |  | ReadOnly, Destructive and Idempotent repeat the author's hints, which may be wrong. |
| DirectOnly | boolean |  | DirectOnly actions are not listed, and refused to every origin but [Direct]. |
| Effects | integer |  |  |
| Example | string |  | Example is a command line that calls the action with sensible arguments; empty if its author gave none. |
| Idempotent | boolean |  | ReadOnly, Destructive and Idempotent repeat the author's hints, which may be wrong. |
| InputSchema | any JSON |  |  |
| Name | string |  | Name is the action's own name, as its Source knows it. |
| Off | string |  | Off says why the action is switched off; empty means it is on. An action that is off is not listed and cannot be called. |
| Positional | array of string or null |  | Positional are the arguments that a command line may give without their names, in order. |
| ReadOnly | boolean |  | ReadOnly, Destructive and Idempotent repeat the author's hints, which may be wrong. |
| Risk | string |  | Risk and Effects are declared by our own actions; of others both are zero, see [Action.Rated]. |
| Signature | string |  | Signature shows on one line how the action is called, with types and defaults. If it is empty, one is derived from the schema. |
| Strict | boolean |  | Strict refuses arguments that the schema does not name, even if the schema would allow them. Only our own actions set it. |
| Timeout | integer |  | Timeout bounds one call; zero means the pipeline's default. |
| Title | string |  | Title and Description are taken from Definition; both may be empty. |
| Unchecked | boolean |  | Unchecked lets arguments pass that do not match the schema. |
| Unsupported | boolean |  | Unsupported says that nobody can switch it on: Off says what this program cannot do. |

## Added

| member | type | | meaning |
|---|---|---|---|
| file | string |  |  |
| servers | array of [NewServer](#newserver) or null |  |  |
| type | string | optional |  |
| warnings | array of string or null |  |  |
| written | boolean |  |  |

## AgainRequest

| member | type | | meaning |
|---|---|---|---|
| capabilities | any JSON |  |  |
| overrides | [Config](#config) |  |  |
| turnId | string |  | chosen by the client, so that it can ask again; optional |

## Agent

| member | type | | meaning |
|---|---|---|---|
| command | array of string | optional |  |
| denyTools | array of string | optional |  |
| description | string |  |  |
| engine | string | optional |  |
| env | array of string | optional |  |
| file | string | optional |  |
| level | string | optional |  |
| model | string | optional |  |
| name | string |  |  |
| profile | string | optional |  |
| project | boolean | optional |  |
| prompt | string |  |  |
| tools | array of string | optional |  |

## AgentList

| member | type | | meaning |
|---|---|---|---|
| agents | array of [Agent](#agent) or null |  |  |
| context | array of [Entry](#entry) or null |  |  |
| problems | array of [Problem](#problem) or null |  |  |
| rules | string |  | path of a trusted project's AGENTS.md |
| skills | array of [Skill](#skill) or null |  |  |

## AgentText

| member | type | | meaning |
|---|---|---|---|
| file | string |  |  |
| text | string |  |  |

## AnchorVerdict

| member | type | | meaning |
|---|---|---|---|
| chains | integer |  |  |
| missing | boolean |  |  |
| ok | boolean |  |  |
| path | string |  |  |
| problems | array of [Flaw](#flaw) or null |  |  |
| unnamed | integer |  | chains that it should name and does not |

## Approval

| member | type | | meaning |
|---|---|---|---|
| hashes | object of string or null |  | Hashes has the hash of each definition that the person was shown, by tool. A definition that has changed since is not accepted. |
| tools | array of string |  | Tools are those whose changed definitions are accepted; all in Hashes if there are none. |

## Approved

| member | type | | meaning |
|---|---|---|---|
| approved | integer |  | how many there were |

## AskAnswer

| member | type | | meaning |
|---|---|---|---|
| id | integer |  | id of the question |
| result | [Confirmed](#confirmed) |  |  |

## AskLine

| member | type | | meaning |
|---|---|---|---|
| ask | [AskedQuestion](#askedquestion) |  |  |

## AskedQuestion

| member | type | | meaning |
|---|---|---|---|
| id | integer |  |  |
| method | string |  |  |
| params | [Question](#question) |  |  |

## AuditExported

| member | type | | meaning |
|---|---|---|---|
| action | string |  |  |
| call | string |  |  |
| kind | string |  | such as call.start, or its part before the dot |
| origin | string |  |  |
| outcome | string |  |  |
| proof | boolean |  | Proof adds a signed proof to each chain, as collie audit export does. It is of all records of a time. |
| session | string |  |  |
| since | string (date-time) |  | from this time on |
| text | string |  | somewhere in the record, in any case |
| tool | string |  |  |
| until | string (date-time) |  | before this time |
| without | string |  | Without leaves out calls of this client that only read. |

## AuditList

| member | type | | meaning |
|---|---|---|---|
| next | string | optional | where the next page begins; none if there is none |
| records | array of [AuditRecord](#auditrecord) or null |  |  |

## AuditRecord

| member | type | | meaning |
|---|---|---|---|
| chain | string |  |  |
| record | any JSON |  |  |

## BeforeText

| member | type | | meaning |
|---|---|---|---|
| document | boolean | optional |  |
| id | string |  |  |
| path | string | optional |  |
| text | string |  | kramdown |

## Browser

| member | type | | meaning |
|---|---|---|---|
| address | string | optional | Address is the network address from which it signed in. |
| host | string |  | host name that it used to sign in |
| id | string |  |  |
| made | string (date-time) |  |  |
| name | string |  | browser and operating system, by its User-Agent |
| used | string (date-time) |  | date of last use |

## BrowserList

| member | type | | meaning |
|---|---|---|---|
| browsers | array of [Browser](#browser) or null |  |  |
| elsewhere | boolean |  | Elsewhere: a browser on another machine, such as a phone, could sign in. |

## CacheList

| member | type | | meaning |
|---|---|---|---|
| caches | array of [CacheStats](#cachestats) or null |  |  |

## CacheStats

| member | type | | meaning |
|---|---|---|---|
| entries | integer |  |  |
| evicted | integer |  |  |
| hits | integer |  |  |
| limit | integer | optional |  |
| misses | integer |  |  |
| name | string |  |  |

## Call

| member | type | | meaning |
|---|---|---|---|
| callId | string |  |  |
| durationMs | integer | optional |  |
| name | string |  |  |
| state | string |  |  |
| step | integer |  |  |

## CallAnswer

| member | type | | meaning |
|---|---|---|---|
| isError | boolean |  |  |
| result | any JSON |  |  |

## CallRequest

| member | type | | meaning |
|---|---|---|---|
| args | any JSON |  |  |
| capabilities | any JSON |  |  |
| confirms | boolean |  | Confirms says that the caller has [tool.CanConfirm]. It counts only in a stream of the command line or of a browser that is signed in. |
| name | string |  |  |
| params | any JSON |  |  |
| profile | string |  |  |
| progress | boolean |  | Progress asks for progress notifications in a stream without a progress token. |
| trace | boolean |  | Trace asks for the steps of the call, in a stream of the command line or of a browser that is signed in. |

## ChainVerdict

| member | type | | meaning |
|---|---|---|---|
| chain | string |  |  |
| covered | integer |  | the newest record that the signed head covers |
| ended | boolean |  |  |
| first | string (date-time) | optional |  |
| last | string (date-time) | optional |  |
| ok | boolean |  |  |
| problems | array of [Flaw](#flaw) or null |  |  |
| records | integer |  |  |
| torn | boolean |  | the last line is incomplete, as after a crash |
| uncovered | integer |  | valid records after that one |

## ChangedEntry

| member | type | | meaning |
|---|---|---|---|
| dryRun | boolean |  |  |
| entry | any JSON |  |  |
| revision | string |  |  |
| typed | string |  |  |

## ChangedFiles

| member | type | | meaning |
|---|---|---|---|
| files | array of string or null |  |  |

## ChangedTools

| member | type | | meaning |
|---|---|---|---|
| changes | object of [DefinitionChange](#definitionchange) or null |  |  |

## Check

| member | type | | meaning |
|---|---|---|---|
| detail | string |  |  |
| health | string |  | ok, warn or fail |
| hint | string | optional | what a person can do |
| name | string |  |  |

## Checks

| member | type | | meaning |
|---|---|---|---|
| checks | array of [Check](#check) or null |  |  |
| ok | boolean |  | false if something has to be repaired |

## Cleared

| member | type | | meaning |
|---|---|---|---|
| removed | array of string or null |  |  |

## Clearing

| member | type | | meaning |
|---|---|---|---|
| servers | array of string or null |  |  |

## Client

| member | type | | meaning |
|---|---|---|---|
| connected | boolean |  |  |
| file | string |  |  |
| http | boolean | optional | over HTTP, in place of a program that it starts |
| installed | boolean |  |  |
| missing | boolean | optional | it starts a program that does not exist |
| name | string |  |  |
| off | boolean | optional | switched off there |
| problem | string | optional | why the file cannot be read |
| profile | string | optional |  |
| title | string |  |  |

## ClientChange

| member | type | | meaning |
|---|---|---|---|
| changed | boolean |  | false if the file has the entry already |
| entry | any JSON |  |  |
| file | string |  |  |
| next | string |  | what the person does then |
| path | array of string or null |  | where in the file the entry stands |
| profile | string | optional |  |
| text | string |  | the change, for people |
| twice | array of string or null |  | servers that the client starts itself too |
| written | boolean |  |  |

## ClientList

| member | type | | meaning |
|---|---|---|---|
| clients | array of [Client](#client) or null |  |  |

## Config

| member | type | | meaning |
|---|---|---|---|
| agent | string |  | a named agent; empty for none |
| allow | array of string |  | Allow are the actions, TOOL.ACTION, that a person allowed beforehand for this session. |
| busyPolicy | string |  | queue, reject or steer |
| contextPolicy | string |  | compact, truncate or fail |
| denyTools | array of string |  |  |
| engine | string |  | chat, react, direct, cli or auto |
| fallbackModels | array of string |  | MODEL or PROVIDER/MODEL, in order |
| folder | string |  | Folder is where an agent of another program works, an absolute path; empty for a folder of its own. |
| language | string |  |  |
| maxOutputTokens | integer |  |  |
| maxSteps | integer |  |  |
| maxTurnCostMicros | integer |  |  |
| maxTurnSeconds | integer |  | running, not waiting for a person |
| model | string |  |  |
| profile | string |  |  |
| provider | string |  |  |
| reasoning | string |  | off, low, medium, high |
| systemPrompt | string |  |  |
| temperature | number |  |  |
| toolResultLimit | integer |  | bytes a model sees of one result |
| tools | array of string |  | Tools are patterns of exposed names that the model sees; none means all of the profile. |

## Confirmed

| member | type | | meaning |
|---|---|---|---|
| beforehand | boolean |  | whether the person agreed in advance, as with a flag of the command; it is recorded |
| confirm | boolean |  | whether the call may run |
| grant | string |  | id of an offered grant, to allow more than this call; any other id is a refusal |

## Connecting

| member | type | | meaning |
|---|---|---|---|
| dryRun | boolean |  |  |
| http | boolean |  | over HTTP with a token of its own |
| profile | string |  | the tools that it sees; empty keeps what it has |

## Constraint

| member | type | | meaning |
|---|---|---|---|
| kind | string |  |  |
| name | string | optional | for people |
| value | string | optional | in the form of [tool.Touch] |

## Cost

| member | type | | meaning |
|---|---|---|---|
| bytes | integer |  |  |
| tokens | integer |  | estimated |

## DefinitionChange

| member | type | | meaning |
|---|---|---|---|
| changed | array of string or null |  | the fields that differ |
| hash | string |  | the hash of Now, which an approval repeats |
| now | any JSON |  |  |
| seenAt | string (date-time) |  |  |
| was | any JSON | optional |  |

## EditRequest

| member | type | | meaning |
|---|---|---|---|
| capabilities | any JSON |  |  |
| messageId | string |  | of the new message, chosen by the client; optional |
| overrides | [Config](#config) |  |  |
| parts | array of [Part](#part) or null |  |  |
| run | boolean or null |  | whether it is answered; true unless given |
| turnId | string |  | chosen by the client, so that it can ask again; optional |

## Emptied

| member | type | | meaning |
|---|---|---|---|
| entries | integer |  | how many it had |

## Entry

| member | type | | meaning |
|---|---|---|---|
| agents | array of string | optional |  |
| budget | integer | optional |  |
| file | string |  |  |
| keywords | array of string or null |  |  |
| name | string |  |  |
| order | integer | optional |  |
| project | boolean | optional |  |
| text | string |  |  |

## Failure

| member | type | | meaning |
|---|---|---|---|
| code | string | optional |  |
| hint | string | optional |  |
| message | string |  |  |
| type | string |  |  |

## File

| member | type | | meaning |
|---|---|---|---|
| mime | string |  |  |
| name | string |  |  |
| sha256 | string |  | of the blob, in hex |
| size | integer |  |  |

## Findings

| member | type | | meaning |
|---|---|---|---|
| found | array of [Found](#found) or null |  |  |

## Flaw

| member | type | | meaning |
|---|---|---|---|
| fault | string |  |  |
| file | string |  |  |
| line | integer | optional |  |
| message | string |  |  |
| seq | integer |  |  |

## Forking

| member | type | | meaning |
|---|---|---|---|
| extent | string |  | path, unless it is subtree or all |

## Found

| member | type | | meaning |
|---|---|---|---|
| at | integer |  | Unix milliseconds |
| excerpt | string |  | text around the first match, on one line |
| messageId | string |  |  |
| role | string |  |  |
| sessionId | string |  |  |
| title | string |  |  |

## FromRegistry

| member | type | | meaning |
|---|---|---|---|
| inputs | object of string |  |  |
| kind | string |  |  |
| name | string |  |  |
| pinned | string |  |  |

## GivenAnswer

| member | type | | meaning |
|---|---|---|---|
| content | any JSON |  |  |
| grant | string |  | id of an offered grant, to allow more than this call |
| name | string |  |  |
| yes | boolean |  |  |

## Grant

| member | type | | meaning |
|---|---|---|---|
| action | string |  |  |
| constraint | [Constraint](#constraint) |  |  |
| created | string (date-time) |  |  |
| definition | string |  | digest; if the definition changes, the grant covers nothing |
| expires | string (date-time) | optional | zero: until it is revoked |
| id | string |  |  |
| origin | string |  |  |
| principal | string |  | who makes the calls |
| risk | string |  | calls with a higher risk are not covered |
| rule | string | optional | rule that required the question; findings of other rules are not covered |
| scope | string |  |  |
| session | string | optional | id of the conversation; empty with scope always |
| source | string |  |  |
| tool | string |  |  |
| turn | string | optional | id of the turn; only with scope turn |
| used | string (date-time) | optional | last use |
| uses | integer |  |  |

## GrantList

| member | type | | meaning |
|---|---|---|---|
| grants | array of [Grant](#grant) or null |  |  |

## GrantOffer

| member | type | | meaning |
|---|---|---|---|
| expires | string (date-time) | optional | missing if it is valid until revoked |
| id | string |  | of this offer, for the answer to the question |
| kind | string |  | the kind of Within: notebook, subtree, path, host or command; any for all calls of the action |
| scope | string |  | turn, session or always |
| within | string | optional | the notebook or document by its name, a folder, a host, a command |

## Host

| member | type | | meaning |
|---|---|---|---|
| name | string |  |  |
| servers | integer |  |  |
| title | string |  |  |

## HostList

| member | type | | meaning |
|---|---|---|---|
| hosts | array of [Host](#host) or null |  |  |

## Imported

| member | type | | meaning |
|---|---|---|---|
| added | array of string or null |  |  |
| file | string |  |  |
| files | array of string or null |  |  |
| servers | array of [ImportedServer](#importedserver) or null |  |  |
| type | string | optional |  |
| written | boolean |  |  |

## ImportedServer

| member | type | | meaning |
|---|---|---|---|
| approvals | array of string | optional |  |
| differences | array of string or null |  |  |
| entry | any JSON | optional |  |
| file | string |  |  |
| from | string |  |  |
| host | string |  |  |
| name | string |  |  |
| project | string |  |  |
| secrets | array of string | optional |  |
| state | string |  |  |
| transport | string |  |  |
| why | string | optional |  |

## Importing

| member | type | | meaning |
|---|---|---|---|
| dryRun | boolean |  |  |
| from | string |  |  |
| select | array of string |  |  |
| typed | string |  |  |

## Input

| member | type | | meaning |
|---|---|---|---|
| choices | array of string | optional |  |
| default | string | optional |  |
| description | string | optional |  |
| key | string |  |  |
| place | string |  |  |
| required | boolean | optional |  |
| secret | boolean | optional |  |

## Kernel

| member | type | | meaning |
|---|---|---|---|
| name | string |  |  |
| token | string |  | configured, empty, or its origin |
| url | string |  |  |
| workspace | string | optional |  |

## KernelFacts

| member | type | | meaning |
|---|---|---|---|
| notebooks | integer |  |  |
| readOnly | boolean | optional |  |
| version | string |  | empty if unknown |
| workspace | string | optional |  |

## KernelList

| member | type | | meaning |
|---|---|---|---|
| connections | array of [Kernel](#kernel) or null |  |  |
| current | string |  | selected connection; vault for the built-in vault |
| file | string | optional | file of another program that has the connections, which must be changed there |
| fixed | string | optional | environment variable that takes precedence over all connections |
| missing | string | optional | why the notes are not available |
| vault | string | optional | file of the built-in vault, if that is in use |

## KernelName

| member | type | | meaning |
|---|---|---|---|
| name | string |  |  |

## Key

| member | type | | meaning |
|---|---|---|---|
| errors | integer |  |  |
| label | string |  |  |
| lastStatus | integer | optional | HTTP status of the last failure; 0 after a success |
| lastUsed | string (date-time) | optional |  |
| level | integer | optional |  |
| models | array of [ModelState](#modelstate) | optional | that rest |
| onlyModels | array of string | optional |  |
| provider | string |  |  |
| retryAt | string (date-time) | optional | when the provider said to retry |
| secret | string | optional | where the key is, such as env:NAME; *** where the settings hold the key itself |
| sessions | integer |  | number of conversations that use the key |
| since | string (date-time) | optional |  |
| state | string |  |  |
| successes | integer |  |  |
| until | string (date-time) | optional |  |
| weight | integer |  |  |
| why | string | optional |  |

## KeyChange

| member | type | | meaning |
|---|---|---|---|
| enabled | boolean or null |  |  |
| key | string |  |  |
| models | array of string or null |  |  |
| secret | string |  |  |
| weight | integer or null |  |  |

## KeyList

| member | type | | meaning |
|---|---|---|---|
| keys | array of [Key](#key) or null |  |  |

## LevelChange

| member | type | | meaning |
|---|---|---|---|
| level | string |  |  |
| notebook | string |  | its id |
| typed | string |  | the notebook's name, required to raise its level |

## LevelList

| member | type | | meaning |
|---|---|---|---|
| levels | array of string or null |  | all levels, lowest first |
| notebooks | array of [NotebookLevel](#notebooklevel) or null |  |  |

## Link

| member | type | | meaning |
|---|---|---|---|
| address | string |  |  |
| qr | array of string | optional | QR is the address as a QR code, for another machine: a string for each row, with 1 for dark. |
| until | string (date-time) |  |  |

## Listener

| member | type | | meaning |
|---|---|---|---|
| addr | string |  | HOST:PORT |
| tlsCert | string |  | path of a PEM file |
| tlsKey | string |  |  |

## LogLine

| member | type | | meaning |
|---|---|---|---|
| stream | string |  |  |
| text | string |  |  |
| time | string (date-time) |  |  |

## LogLines

| member | type | | meaning |
|---|---|---|---|
| lines | array of [LogLine](#logline) or null |  |  |

## Match

| member | type | | meaning |
|---|---|---|---|
| keyword | string |  |  |
| name | string |  |  |

## MatchList

| member | type | | meaning |
|---|---|---|---|
| matches | array of [Match](#match) or null |  |  |

## MatchRequest

| member | type | | meaning |
|---|---|---|---|
| agent | string |  |  |
| text | string |  |  |

## Message

| member | type | | meaning |
|---|---|---|---|
| calls | array of [Call](#call) | optional |  |
| costMicros | integer | optional |  |
| createdAt | string (date-time) |  |  |
| edited | boolean | optional |  |
| error | [Failure](#failure) | optional |  |
| finishReason | string | optional |  |
| id | string |  |  |
| index | integer |  | position among its siblings, from 0 |
| model | string | optional |  |
| of | integer |  | number of siblings, including itself |
| ownTools | boolean | optional | it was written by a program that runs its own tools |
| parentId | string |  |  |
| parts | array of [Part](#part) or null |  |  |
| provider | string | optional |  |
| role | string |  |  |
| status | string |  |  |
| turnId | string | optional |  |
| updatedAt | string (date-time) |  |  |
| usage | [Usage](#usage) | optional |  |

## ModelNames

| member | type | | meaning |
|---|---|---|---|
| models | array of string or null |  | PROVIDER/MODEL |

## ModelState

| member | type | | meaning |
|---|---|---|---|
| level | integer | optional |  |
| model | string |  |  |
| retryAt | string (date-time) | optional | when the provider said to retry |
| since | string (date-time) | optional |  |
| state | string |  |  |
| until | string (date-time) | optional |  |
| why | string | optional |  |

## Moved

| member | type | | meaning |
|---|---|---|---|
| everywhere | boolean |  | Everywhere reports that the gateway can be reached under any name of its machine, at the port of URL. |
| link | string |  | Link is the address of the pages there, with which one browser can sign in. |
| url | string |  |  |

## NameFilter

| member | type | | meaning |
|---|---|---|---|
| exclude | array of string |  | wins |
| include | array of string |  | none means all |

## NewAgentText

| member | type | | meaning |
|---|---|---|---|
| text | string |  |  |

## NewKernel

| member | type | | meaning |
|---|---|---|---|
| token | string |  | missing: unchanged |
| untested | boolean |  | Untested skips the test of the connection. |
| url | string |  | empty: unchanged |

## NewKey

| member | type | | meaning |
|---|---|---|---|
| key | string |  | the key itself, which is kept as a secret |
| label | string |  | main unless given, then key2, key3, … |
| models | array of string or null |  | patterns of the models it may be used for; none means all |
| secret | string |  | or where it is: env:NAME, file:PATH or \${secret:NAME} |
| weight | integer or null |  | share of the requests, 0 to 1000; 1 unless given |

## NewLink

| member | type | | meaning |
|---|---|---|---|
| elsewhere | boolean |  | for a browser on another machine, such as a phone |

## NewProvider

| member | type | | meaning |
|---|---|---|---|
| baseURL | string |  | known of some names |
| key | [NewKey](#newkey) |  |  |
| kind | string |  | the API it speaks; known of some names |
| name | string |  |  |
| noTest | boolean |  | save it without asking it for its models |

## NewSecret

| member | type | | meaning |
|---|---|---|---|
| clients | array of string or null |  | that have the old one, and are to be written anew |
| token | string |  |  |

## NewServer

| member | type | | meaning |
|---|---|---|---|
| entry | any JSON |  |  |
| name | string |  |  |
| transport | string |  |  |

## NewServers

| member | type | | meaning |
|---|---|---|---|
| dryRun | boolean |  |  |
| json | string |  |  |
| name | string |  |  |
| secrets | object of string |  |  |
| typed | string |  |  |

## NewSession

| member | type | | meaning |
|---|---|---|---|
| config | [Config](#config) |  |  |
| title | string |  |  |

## NewToken

| member | type | | meaning |
|---|---|---|---|
| name | string |  |  |
| profile | string |  | the only one that it may use; empty allows any |
| scopes | array of string or null |  | tools, chat or approve |
| typed | string |  | the name again, for the scopes chat and approve |

## None

No members.

## NoteRequest

| member | type | | meaning |
|---|---|---|---|
| overwrite | boolean |  | replace the text of a document that exists |
| path | string |  | of the document |
| redact | boolean |  | leave out what tools were called with and what they answered |

## NoteRules

| member | type | | meaning |
|---|---|---|---|
| text | string |  |  |

## NotebookLevel

| member | type | | meaning |
|---|---|---|---|
| closed | boolean | optional |  |
| id | string |  |  |
| level | string |  |  |
| name | string |  |  |

## OneServer

| member | type | | meaning |
|---|---|---|---|
| server | [ServerStatus](#serverstatus) |  |  |

## OneWrite

| member | type | | meaning |
|---|---|---|---|
| added | string | optional | Added is the id of the document that the write has made, and that undo would remove. |
| addedBlocks | array of string | optional | AddedBlocks are the ids of the blocks that the write has made, and that undo would remove. |
| before | array of [BeforeText](#beforetext) or null |  | text that undo would restore |
| changedSince | array of string or null |  | ids of blocks changed since, whose changes undo would lose |
| inverse | string | optional | Inverse is the call that undoes the write, if that is not done by restoring text. |
| write | [RecentWrite](#recentwrite) |  |  |

## OpenQuestion

| member | type | | meaning |
|---|---|---|---|
| asked | string (date-time) |  |  |
| client | string | optional |  |
| form | [ServerForm](#serverform) | optional | Form is a form of a server to fill in; Question then describes the call. It is nil for questions of the gate. |
| id | string |  |  |
| question | [Question](#question) |  |  |
| sessionId | string | optional | Session and Turn identify the turn that waits for the answer. They are empty for a call of a client, which was refused and can be repeated after a yes. |
| turnId | string | optional |  |

## Page

| member | type | | meaning |
|---|---|---|---|
| nextCursor | string | optional | empty where this is the last one |
| sessions | array of [Session](#session) or null |  |  |

## Part

| member | type | | meaning |
|---|---|---|---|
| args | string |  | Args are the arguments of a tool call as the model wrote them, usually a JSON object. Text that does not parse is kept here, and refused when the call is made. |
| callId | string |  | Call is the id that a tool call and its result share. Collie assigns it, so it is unique in the conversation whatever the provider calls it. |
| code | string |  | Code of a notice, for programs that react to it; CodeSummary in a text that stands for earlier messages. |
| file | [File](#file) |  | File is set in a part of kind PartFile, and in a text that is the content of an attached file. |
| files | array of [File](#file) |  | Files are the pictures of a tool result. |
| isError | boolean |  | IsError marks a tool result that reports a failure. |
| name | string |  | Name of the tool that is called, as the catalog exposes it. |
| opaque | any JSON |  |  |
| provider | string |  | Provider is where Opaque came from and goes back to. |
| text | string |  | Text of a text, reasoning or notice part, or of a tool result as the model sees it. |
| type | string |  |  |

## PastedAddress

| member | type | | meaning |
|---|---|---|---|
| address | string |  |  |

## Patch

| member | type | | meaning |
|---|---|---|---|
| archived | boolean or null |  |  |
| config | [Config](#config) or null |  | the whole of it |
| pinned | boolean or null |  |  |
| title | string or null |  |  |

## Problem

| member | type | | meaning |
|---|---|---|---|
| field | string | optional |  |
| file | string |  |  |
| line | integer | optional |  |
| message | string |  |  |

## ProfileChange

| member | type | | meaning |
|---|---|---|---|
| actions | [NameFilter](#namefilter) |  | written tool.action |
| description | string |  |  |
| notebooks | object of string |  | the highest levels (none, r, rw, rwd), by id; * means all others |
| tools | [NameFilter](#namefilter) |  |  |
| typed | string |  | the name of the profile, where clients may see or do more than before |
| view | string |  | flat, grouped, search or auto; empty: as in the settings |

## ProfileList

| member | type | | meaning |
|---|---|---|---|
| profiles | array of [ShownProfile](#shownprofile) or null |  |  |

## ProfileRules

| member | type | | meaning |
|---|---|---|---|
| actions | [NameFilter](#namefilter) |  | written tool.action |
| description | string |  |  |
| notebooks | object of string |  | the highest levels (none, r, rw, rwd), by id; * means all others |
| tools | [NameFilter](#namefilter) |  |  |
| view | string |  | flat, grouped, search or auto; empty: as in the settings |

## Prompt

| member | type | | meaning |
|---|---|---|---|
| arguments | array of [PromptArgument](#promptargument) | optional |  |
| description | string | optional |  |
| name | string |  | SERVER:PROMPT |
| title | string | optional |  |

## PromptArgument

| member | type | | meaning |
|---|---|---|---|
| description | string | optional |  |
| name | string |  |  |
| required | boolean | optional |  |
| title | string | optional |  |

## PromptList

| member | type | | meaning |
|---|---|---|---|
| prompts | array of [Prompt](#prompt) or null |  |  |

## PromptRequest

| member | type | | meaning |
|---|---|---|---|
| args | object of string or null |  |  |
| name | string |  | SERVER:PROMPT, or as in the list of MCP clients |
| profile | string |  |  |

## Provider

| member | type | | meaning |
|---|---|---|---|
| baseURL | string | optional |  |
| keys | array of string or null |  | their labels |
| kind | string |  |  |
| name | string |  |  |

## ProviderList

| member | type | | meaning |
|---|---|---|---|
| providers | array of [Provider](#provider) or null |  |  |

## Question

| member | type | | meaning |
|---|---|---|---|
| action | string |  |  |
| args | string |  | as JSON, long values cut |
| effect | string |  | what would happen, in one sentence |
| grants | array of [GrantOffer](#grantoffer) | optional | Grants are permissions that the person may give instead of agreeing to this one call. Each covers this call. |
| name | string | optional | Name is what the person must type to agree, because the possible harm is critical; empty if a yes is enough. |
| risk | string | optional | how much harm it can do |
| targets | array of string | optional | by name and path |
| tool | string |  |  |
| why | string | optional | what a rule found in the arguments |

## QuestionList

| member | type | | meaning |
|---|---|---|---|
| questions | array of [OpenQuestion](#openquestion) or null |  |  |

## RecentWrite

| member | type | | meaning |
|---|---|---|---|
| action | string |  |  |
| canUndo | boolean |  |  |
| createdAt | string (date-time) |  |  |
| names | array of string or null |  | names of the changed notes, or ids |
| noUndo | string | optional | why it cannot be undone |
| requestId | string |  |  |
| state | string |  |  |
| tool | string |  |  |

## RegistryEntry

| member | type | | meaning |
|---|---|---|---|
| entry | any JSON |  |  |
| name | string |  |  |
| secrets | object of string or null |  |  |

## RegistryOffer

| member | type | | meaning |
|---|---|---|---|
| description | string | optional |  |
| inputs | array of [Input](#input) or null |  |  |
| kind | string |  |  |
| kinds | array of string or null |  |  |
| name | string |  |  |
| package | string |  |  |
| pinned | string |  |  |
| repository | string | optional |  |
| status | string | optional |  |
| title | string | optional |  |

## RegistryPage

| member | type | | meaning |
|---|---|---|---|
| leftOut | integer | optional |  |
| next | string | optional |  |
| servers | array of [RegistryServer](#registryserver) or null |  |  |

## RegistryServer

| member | type | | meaning |
|---|---|---|---|
| description | string | optional |  |
| name | string |  |  |
| repository | string | optional |  |
| status | string | optional |  |
| title | string | optional |  |
| version | string |  |  |
| ways | array of string or null |  |  |

## Reread

| member | type | | meaning |
|---|---|---|---|
| wrong | string |  | what is wrong with the settings, so that older ones are in effect |

## ResourceRequest

| member | type | | meaning |
|---|---|---|---|
| profile | string |  |  |
| uri | string |  |  |

## Selection

| member | type | | meaning |
|---|---|---|---|
| index | integer or null |  | the place of the child, from 0 |

## ServerForm

| member | type | | meaning |
|---|---|---|---|
| message | string |  |  |
| schema | any JSON | optional |  |
| url | string | optional | URL is a page that the person is asked to open; empty where the form has fields. |

## ServerList

| member | type | | meaning |
|---|---|---|---|
| configError | string | optional | what is wrong with the settings, so that older ones are in effect |
| servers | array of [ServerStatus](#serverstatus) or null |  |  |

## ServerStatus

| member | type | | meaning |
|---|---|---|---|
| attempt | integer | optional | consecutive failures |
| autoApprove | array of string | optional | "*" is all |
| changedTools | array of string | optional | Changed names the tools whose definitions differ from their pins. |
| command | string | optional |  |
| detail | string | optional | one sentence, for people |
| droppedResponses | integer | optional | Dropped counts answers to no waiting request. |
| era | string | optional |  |
| freshness | string | optional | of the lists |
| freshnessReason | string | optional | Why is a stable code that says why the lists are not fresh. |
| hint | string | optional | what a person can do, for StateNeedsAuth |
| lifecycle | string | optional |  |
| memory | integer | optional | resident bytes of the child's process group |
| name | string |  |  |
| nextRetryAt | string (date-time) | optional | when it is started again, or calls are allowed again |
| noiseLines | integer | optional |  |
| pid | integer | optional |  |
| prompts | integer |  |  |
| protocolVersion | string | optional |  |
| reason | string | optional | a stable code |
| resources | integer |  |  |
| restarts | integer | optional | of Starts, those after a crash or a failure |
| server | string | optional | the name and version that the server reports |
| since | string (date-time) |  |  |
| startSeconds | number | optional | StartSeconds is how long the last start took until the lists were known. |
| starts | integer | optional | since the gateway started |
| state | string |  |  |
| tools | integer |  |  |
| transport | string |  | stdio, http or sse |
| validatedAt | string (date-time) | optional | when the server last confirmed the lists |

## Session

| member | type | | meaning |
|---|---|---|---|
| archived | boolean | optional |  |
| config | [Config](#config) |  |  |
| createdAt | string (date-time) |  |  |
| forkedFrom | string | optional | id of the message at which it was forked |
| id | string |  |  |
| pinned | boolean | optional |  |
| revision | integer |  | Revision increases with each change of the session or its tree. |
| title | string |  |  |
| updatedAt | string (date-time) |  |  |

## Setting

| member | type | | meaning |
|---|---|---|---|
| choices | array of string | optional | possible values of a choice |
| kind | string |  | text, list, switch, choice, or shown, which cannot be changed here |
| live | boolean |  | a change takes effect at once, else after a restart |
| path | string |  | such as http.addr |
| source | string | optional | file or flag that sets it; empty for a default |
| value | any JSON |  |  |

## SettingList

| member | type | | meaning |
|---|---|---|---|
| file | string |  | file that they are written to |
| settings | array of [Setting](#setting) or null |  |  |

## SettingValue

| member | type | | meaning |
|---|---|---|---|
| value | any JSON |  |  |

## ShownEntry

| member | type | | meaning |
|---|---|---|---|
| entry | any JSON |  |  |
| file | string |  |  |
| name | string |  |  |
| revision | string |  |  |

## ShownProfile

| member | type | | meaning |
|---|---|---|---|
| list | [Cost](#cost) |  |  |
| name | string |  |  |
| rules | [ProfileRules](#profilerules) | optional | none for a profile that is built in |
| tools | integer |  | in the list that a client gets |

## SignedOut

| member | type | | meaning |
|---|---|---|---|
| revoked | boolean |  | false if revoking the tokens at the server failed |

## SigningIn

| member | type | | meaning |
|---|---|---|---|
| address | string | optional |  |
| problem | string | optional |  |
| state | string |  |  |

## Skill

| member | type | | meaning |
|---|---|---|---|
| description | string |  |  |
| file | string |  |  |
| name | string |  |  |
| project | boolean | optional |  |

## Snapshot

| member | type | | meaning |
|---|---|---|---|
| assistantMessageId | string |  |  |
| calls | array of [Call](#call) | optional |  |
| costMicros | integer | optional |  |
| engine | string |  |  |
| error | [Failure](#failure) | optional |  |
| finishReason | string | optional |  |
| model | string | optional |  |
| ownTools | boolean | optional | it is answered by a program that runs its own tools |
| parts | array of [Part](#part) or null |  |  |
| provider | string | optional |  |
| seq | integer |  | number of the last event included; 0 if read from the database |
| sessionId | string |  |  |
| state | string |  |  |
| steps | integer | optional |  |
| turnId | string |  |  |
| usage | [Usage](#usage) |  |  |
| userMessageId | string |  |  |

## SwitchBoard

| member | type | | meaning |
|---|---|---|---|
| flat | [Cost](#cost) |  |  |
| grouped | [Cost](#cost) |  |  |
| list | [Cost](#cost) |  | Cost of the list of all tools now, and in each view. |
| search | [Cost](#cost) |  |  |
| tools | array of [SwitchedTool](#switchedtool) or null |  |  |

## SwitchedAction

| member | type | | meaning |
|---|---|---|---|
| alias | string | optional | name that clients see instead of its own |
| authored | string | optional | the server's own description, if a person replaced it |
| cost | [Cost](#cost) |  | cost of its definition |
| dangerous | boolean |  | each call needs a person's confirmation |
| description | string |  |  |
| editable | boolean |  | alias and description can be changed |
| effects | array of string or null |  |  |
| name | string |  |  |
| off | string | optional | why it is off |
| risk | string |  |  |
| type | string | optional | text to type to switch it on |
| unsupported | boolean | optional | cannot be switched on |

## SwitchedTool

| member | type | | meaning |
|---|---|---|---|
| actions | array of [SwitchedAction](#switchedaction) or null |  |  |
| name | string |  |  |
| off | string | optional | why it is off |
| title | string |  |  |
| view | string |  |  |
| why | string |  | who chose the view |

## TestResult

| member | type | | meaning |
|---|---|---|---|
| error | string | optional |  |
| label | string |  |  |
| models | integer | optional | how many it can use |
| names | array of string | optional | their names, as the provider lists them |
| ok | boolean |  |  |
| provider | string |  |  |

## Tests

| member | type | | meaning |
|---|---|---|---|
| keys | array of [TestResult](#testresult) or null |  |  |

## Token

| member | type | | meaning |
|---|---|---|---|
| client | string | optional | for which it was made |
| file | string | optional | in which it stands |
| made | string (date-time) |  |  |
| name | string |  |  |
| profile | string | optional | the only one that it may use |
| scopes | array of string or null |  |  |

## TokenList

| member | type | | meaning |
|---|---|---|---|
| tokens | array of [Token](#token) or null |  |  |

## Tool

| member | type | | meaning |
|---|---|---|---|
| About | string |  | About says in the user's own words what the Tool is for; empty if the settings do not say. |
| Actions | array of [Action](#action) or null |  | Actions in the Source's order. |
| Description | string |  | Title and Description are shown to people and in the grouped view. |
| Name | string |  | Name is unique in a catalog and matches ^[A-Za-z0-9_-]{1,64}$. |
| Off | string |  | Off says why the whole Tool is switched off; empty means it is on. |
| Prefix | string |  | Prefix precedes the actions' names in the flat view, for example "github__". It may be empty. |
| Title | string |  | Title and Description are shown to people and in the grouped view. |
| View | string |  | View is the view that the Tool itself asks for. Empty leaves the choice to the profile, or means Flat if the profile does not choose either. |
| Why | string |  | Why says who chose View, for display to people: one of the constants WhyProfile to WhyNobody. Sources leave it empty. |

## ToolList

| member | type | | meaning |
|---|---|---|---|
| tools | array of [Tool](#tool) or null |  |  |

## ToolWords

| member | type | | meaning |
|---|---|---|---|
| action | string |  |  |
| alias | string |  |  |
| description | string |  |  |
| tool | string |  |  |

## Translated

| member | type | | meaning |
|---|---|---|---|
| texts | array of string or null |  | in the order of the request |

## TurnRef

| member | type | | meaning |
|---|---|---|---|
| assistantMessageId | string |  |  |
| state | string |  |  |
| turnId | string |  |  |

## TurnRequest

| member | type | | meaning |
|---|---|---|---|
| capabilities | any JSON |  |  |
| overrides | [Config](#config) |  |  |
| turnId | string |  | chosen by the client, so that it can ask again; optional |
| userMessage | [UserMessage](#usermessage) or null |  |  |

## Turning

| member | type | | meaning |
|---|---|---|---|
| action | string |  | empty for the whole tool |
| on | boolean |  |  |
| tool | string |  |  |
| typed | string |  | value of type, if it is not empty |

## Untranslated

| member | type | | meaning |
|---|---|---|---|
| language | string |  | zh |
| texts | array of string or null |  |  |

## Usage

| member | type | | meaning |
|---|---|---|---|
| cacheWrite | integer | optional |  |
| cached | integer | optional |  |
| contextSize | integer | optional | size of the model's context in tokens; 0 if unknown |
| contextUsed | integer | optional | tokens that the last step read and wrote |
| input | integer |  |  |
| output | integer |  |  |
| reasoning | integer | optional |  |

## UsageRow

| member | type | | meaning |
|---|---|---|---|
| agent | string | optional |  |
| cacheWrite | integer | optional |  |
| cached | integer | optional |  |
| costMicros | integer |  |  |
| day | string |  | in UTC |
| input | integer |  |  |
| model | string |  |  |
| output | integer |  |  |
| provider | string |  |  |
| reasoning | integer | optional |  |
| steps | integer |  |  |

## UsageRows

| member | type | | meaning |
|---|---|---|---|
| rows | array of [UsageRow](#usagerow) or null |  |  |

## UserMessage

| member | type | | meaning |
|---|---|---|---|
| id | string |  |  |
| parentId | string |  |  |
| parts | array of [Part](#part) or null |  |  |
| text | string |  |  |

## Verdict

| member | type | | meaning |
|---|---|---|---|
| anchor | [AnchorVerdict](#anchorverdict) | optional | none if no anchor is set |
| chains | array of [ChainVerdict](#chainverdict) or null |  |  |
| dir | string |  |  |
| ok | boolean |  |  |
| records | integer |  |  |

## View

| member | type | | meaning |
|---|---|---|---|
| archived | boolean | optional |  |
| config | [Config](#config) |  |  |
| createdAt | string (date-time) |  |  |
| forkedFrom | string | optional | id of the message at which it was forked |
| id | string |  |  |
| path | array of [Message](#message) or null |  | Path is the active path, oldest first, without the root. |
| pinned | boolean | optional |  |
| revision | integer |  | Revision increases with each change of the session or its tree. |
| rootId | string |  | parent of a first message |
| title | string |  |  |
| turns | array of [TurnRef](#turnref) | optional | Turns are the turns that have not ended: the running one, then those in the queue. |
| updatedAt | string (date-time) |  |  |

## WriteList

| member | type | | meaning |
|---|---|---|---|
| writes | array of [RecentWrite](#recentwrite) or null |  |  |
`,"../../../docs/reference/decisions.md":`# What becomes of a call

Written from \`internal/pipeline/gate/decision/table.txt\`, the table that Collie decides by. What the fixed rules refuse
([guide](../guide/guard.md)) never gets here.

A row is how much harm a call can do: what our own actions declare, what the name, the description and the hints of a foreign tool
suggest, or what a rule has found out about this one call. A column is who asks for it.

- run: it runs.
- ask: a person is asked. Where nobody can be asked, it is refused at once.
- grant: it runs if a grant covers it; nobody is asked.
- deny: it is refused.

Three things stand above the tables. Actions that say they are dangerous, and what a rule wants asked about, are asked about also
where the table says run. A grant lets run what would be asked about, but nothing critical. What is not known, such as a new
origin, is refused.

## alone

No second opinion: the guardian is off, only watches, or has not looked at the call.

| risk | direct | chat | cli-agent | mcp-local | mcp-remote | scheduled |
|---|---|---|---|---|---|---|
| none | run | run | run | run | run | run |
| low | run | run | run | run | run | run |
| medium | run | ask | ask | run | ask | grant |
| high | run | ask | ask | ask | ask | grant |
| critical | ask | ask | ask | ask | deny | deny |

## high

The guardian counts, with threshold high: what it finds of medium risk runs in a conversation.

| risk | direct | chat | cli-agent | mcp-local | mcp-remote | scheduled |
|---|---|---|---|---|---|---|
| none | run | run | run | run | run | run |
| low | run | run | run | run | run | run |
| medium | run | run | ask | run | ask | grant |
| high | run | ask | ask | ask | ask | grant |
| critical | ask | ask | ask | ask | deny | deny |
| guardian | ask | ask | deny | deny | deny | deny |
| failed | run | ask | ask | ask | deny | deny |

## medium

The guardian counts, with threshold medium.

| risk | direct | chat | cli-agent | mcp-local | mcp-remote | scheduled |
|---|---|---|---|---|---|---|
| none | run | run | run | run | run | run |
| low | run | run | run | run | run | run |
| medium | run | ask | ask | ask | ask | deny |
| high | run | ask | ask | ask | ask | deny |
| critical | ask | ask | ask | ask | deny | deny |
| guardian | ask | ask | deny | deny | deny | deny |
| failed | run | ask | ask | ask | deny | deny |

## clients

MCP clients ask their person by themselves. Until guard.clients is enforce, risk alone stops none of their calls.

| risk | mcp-local | mcp-remote |
|---|---|---|
| none | run | run |
| low | run | run |
| medium | run | run |
| high | run | run |
| critical | run | run |
`,"../../../docs/reference/siyuan/README.md":`# SiYuan tools

Made from the actions themselves; \`go generate ./...\` writes it.

| tool | actions | |
|---|---:|---|
| [fs](fs.md) | 9 | SiYuan notes by human path: /Notebook/Document/Child; / lists the notebooks. /AGENTS.md is your memory, /USER_RULES.md the user's rules. |
| [notebook](notebook.md) | 11 | Notebooks. list gives their ids and what may be done in each: permission r, rw or rwd. |
| [document](document.md) | 17 | Documents by id: create, find, read, move, copy, split, merge. |
| [block](block.md) | 21 | Single blocks by id. Ids and attributes stay; get_kramdown gives stateHash for ifMatch. |
| [av](av.md) | 13 | Databases: columns, rows, cells, views. search finds them, render shows one with its rowIDs (no block ids). |
| [file](file.md) | 13 | Assets (images, attachments), templates, exports. Paths are assets/NAME; local files only in allowed folders. |
| [search](search.md) | 8 | Find blocks, also by SQL, backlinks, assets; replace text. |
| [tag](tag.md) | 3 | Tags (#like this#, #with/levels#), written without #. rename and remove reach all notebooks, children too, and need rw or rwd in each that has it. |
| [system](system.md) | 7 | The SiYuan kernel. Begin with bootstrap: notebooks, levels (r, rw, rwd), what is off, first calls. |
| [flashcard](flashcard.md) | 6 | Spaced repetition: list due cards (front, back), rate or skip them, make cards of blocks. |
| [mascot](mascot.md) | 3 | A puppy: each successful call of another tool earns it a coin. buy takes an id that shop lists. |
| [timeline](timeline.md) | 4 | Earlier states: name one before larger edits, see what changed since, bring a document back. |
`,"../../../docs/reference/siyuan/av.md":`# av

Databases: columns, rows, cells, views. search finds them, render shows one with its rowIDs (no block ids).

- [get](#avactionget): Read a whole database as it is stored
- [render](#avactionrender): Show a database as a table, page by page
- [get_attribute_view_keys](#avactionget_attribute_view_keys): List the columns of a database
- [get_attribute_view_filter_sort](#avactionget_attribute_view_filter_sort): Show the filters and sorts of a view
- [search](#avactionsearch): Find databases by name, or else by the text of their rows
- [rename](#avactionrename): Give a database another name
- [add_rows](#avactionadd_rows): Add rows, bound to blocks or with a text of their own
- [remove_rows](#avactionremove_rows): Remove rows; blocks that they are bound to stay
- [add_column](#avactionadd_column): Add a column
- [remove_column](#avactionremove_column): Remove a column with all its cells
- [set_cells](#avactionset_cells): Write cells of a database
- [duplicate](#avactionduplicate): Copy a database and show the copy in a block of its own
- [get_primary_key_values](#avactionget_primary_key_values): List the rows of a database with their ids

## av(action="get")

Read a whole database as it is stored.

This is large: render shows the same as a table. rowID is what other actions take; sourceBlockID is the block that a row is bound to.

\`get(id, blockID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | database id (also avID) |
| blockID | string | optional |  | a block that shows it |

- Needs: r on database id
- Kind: reads
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView

### Result

- \`id\`: database id
- \`av\`: columns with their values (keyValues), views, name
- \`resolvedRows\`: the rows
- \`resolvedRows[].rowID\`: what names the row everywhere
- \`resolvedRows[].sourceBlockID\`: the block that it is bound to
- \`resolvedRows[].valueIDs\`: ids of its values by column (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"get","id":"20240801120000-avmain1"}
\`\`\`

Terminal:

\`\`\`sh
collie av get 20240801120000-avmain1
\`\`\`

## av(action="render")

Show a database as a table, page by page.

Cells stand in the order of table.columns; null is empty. rows[].id is the rowID of set_cells and remove_rows, rows[].blockID the block that the row is bound to. createIfNotExist makes a database under a new id and needs write on blockID.

\`render(id, blockID?, viewID?, page=1, pageSize=10, query?, groupPaging?, createIfNotExist=false, ignoreRows=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | database id (also avID) |
| blockID | string | optional |  | a block that shows it, or to put a new one after |
| viewID | string | optional |  | another view than the current one |
| page | integer | optional | 1 | from 1 |
| pageSize | integer | optional | 10 | -1 is all |
| query | string | optional |  | only rows that hold this |
| groupPaging | object | optional |  | {groupID: {page, pageSize}} of a grouped view |
| createIfNotExist | boolean | optional | false | make the database if there is none |
| ignoreRows | boolean | optional | false | columns only |

- Needs: r on database id, rw on blockID when creating
- Kind: reads
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/renderAttributeView, av/getAttributeView, lute/spinBlockDOM, block/appendBlock, transactions

### Result

- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`avID\`: database id
- \`id\`: the same (with verbose:true)
- \`name\`: of the database
- \`viewID\`: the view that is shown
- \`viewName\`: its name
- \`viewType\`: table, gallery or kanban
- \`views\`: all views
- \`table.columns\`: id, name and type
- \`table.rows\`: id, blockID of a bound row, group, cells
- \`table.rowCount\`: rows in all
- \`table.groups\`: of a grouped view
- \`rowFormat\`: how to read a row
- \`rawRowsIncluded\`: data is there (with verbose:true)
- \`data\`: what the kernel answered (with verbose:true)
- \`materialized\`: the database has just been made
- \`blockID\`: the block that shows it now
- \`warning\`: what did not show

### Example

MCP:

\`\`\`json
{"action":"render","id":"20240801120000-avmain1","pageSize":20}
\`\`\`

Terminal:

\`\`\`sh
collie av render 20240801120000-avmain1 --page-size 20
\`\`\`

## av(action="get_attribute_view_keys")

List the columns of a database.

A column's id is what set_cells takes as columnID, and its type decides the valueType.

\`get_attribute_view_keys(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | database id (also avID) |

- Needs: r on database id
- Kind: reads
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, av/getAttributeViewKeysByAvID

### Result

- \`avID\`: database id
- \`keys\`: the columns
- \`keys[].id\`: column id
- \`keys[].name\`: what it is called
- \`keys[].type\`: block (the primary column), text, number, select, …
- \`keys[].options\`: of select and mSelect: what there is to choose
- \`keys[].relation\`: of relation: the other database

### Example

MCP:

\`\`\`json
{"action":"get_attribute_view_keys","id":"20240801120000-avmain1"}
\`\`\`

Terminal:

\`\`\`sh
collie av get-attribute-view-keys 20240801120000-avmain1
\`\`\`

## av(action="get_attribute_view_filter_sort")

Show the filters and sorts of a view.

\`get_attribute_view_filter_sort(id, blockID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | database id (also avID) |
| blockID | string | optional |  | the block whose view is meant |

- Needs: r on database id
- Kind: reads
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView, av/getAttributeViewFilterSort

### Result

- \`avID\`: database id
- \`filters\`: a tree of conditions; no filter is one empty group
- \`sorts\`: columns in order

### Example

MCP:

\`\`\`json
{"action":"get_attribute_view_filter_sort","id":"20240801120000-avmain1"}
\`\`\`

Terminal:

\`\`\`sh
collie av get-attribute-view-filter-sort 20240801120000-avmain1
\`\`\`

## av(action="search")

Find databases by name, or else by the text of their rows.

A search by rows looks at 50 databases at most. What may not be read is not there.

\`search(keyword, excludes?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| keyword | string | required |  | part of a database's name, else of a row's text (also query) |
| excludes | string[] | optional |  | databases to leave out |

- Needs: no level: what is found is filtered by the notebooks that show it
- Kind: reads
- Endpoints: av/searchAttributeView, file/readDir, av/getAttributeViewPrimaryKeyValues, query/sql

### Result

- \`keyword\`: what was searched
- \`searchScope\`: name, or rows where no name fits
- \`results\`: databases
- \`results[].id\`: the same as avID (with verbose:true)
- \`results[].avID\`: database id
- \`results[].avName\`: its name
- \`results[].blockID\`: a block that shows it
- \`results[].hPath\`: where that is
- \`results[].views\`: its views (with verbose:true)
- \`results[].rows\`: rows that fit, three at most
- \`results[].rows[].rowID\`: what names the row
- \`results[].rows[].content\`: text of the primary column
- \`results[].rows[].blockID\`: the block that it is bound to
- \`results[].rows[].isDetached\`: it is bound to none
- \`results[].rows[].valueID\`: id of the primary value (with verbose:true)
- \`results[].renderArgs\`: arguments of render (with verbose:true)
- \`rawResultCount\`: databases that were shown or could not be placed (with verbose:true)
- \`unresolvedCount\`: databases that no block shows
- \`truncated\`: not all databases were looked at
- \`hint\`: what to do then

### Example

MCP:

\`\`\`json
{"action":"search","keyword":"project"}
\`\`\`

Terminal:

\`\`\`sh
collie av search project
\`\`\`

## av(action="rename")

Give a database another name.

\`rename(avID, name, blockID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| name | string | required |  | new name |
| blockID | string | optional |  | a block that shows it |

- Needs: rw on database avID
- Kind: changes or removes
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, transactions, av/getAttributeView

### Result

- \`success\`: it has that name now
- \`avID\`: database id
- \`blockID\`: the block through which it was renamed
- \`name\`: its name

### Example

MCP:

\`\`\`json
{"action":"rename","avID":"20240801120000-avmain1","name":"Projects"}
\`\`\`

Terminal:

\`\`\`sh
collie av rename 20240801120000-avmain1 Projects
\`\`\`

## av(action="add_rows")

Add rows, bound to blocks or with a text of their own.

A bound row shows its block's text. rows[].rowID is what set_cells takes; it is not the block's id. A block that is a row already stays the row it is. Binding writes into the block.

\`add_rows(avID, blockIDs?, primaryKeyTexts?, blockID?, viewID?, groupID?, previousID?, ignoreDefaultFill=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| blockIDs | string[] | optional |  | blocks or documents to make rows of |
| primaryKeyTexts | string[] | optional |  | texts of rows that are bound to no block |
| blockID | string | optional |  | the block whose view is meant |
| viewID | string | optional |  | another view than the current one |
| groupID | string | optional |  | group of the view to put them into |
| previousID | string | optional |  | rowID to put them after; without it they come first |
| ignoreDefaultFill | boolean | optional | false | do not fill in what the view's filters want |

- Needs: rw on database avID, rw on block blockIDs
- Kind: creates
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView, transactions

### Result

- \`success\`: all of them are there
- \`avID\`: database id
- \`rows\`: blockID or primaryKeyText, and the rowID
- \`rows[].existing\`: the block was a row already
- \`added\`: how many are new

### Example

MCP:

\`\`\`json
{"action":"add_rows","avID":"20240801120000-avmain1","primaryKeyTexts":["first task"]}
\`\`\`

Terminal:

\`\`\`sh
collie av add-rows 20240801120000-avmain1 --primary-key-texts 'first task'
\`\`\`

## av(action="remove_rows")

Remove rows; blocks that they are bound to stay.

srcIDs are row ids, as add_rows, render and get_primary_key_values give them, never block ids.

\`remove_rows(avID, srcIDs, blockID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| srcIDs | string[] | required |  | rowIDs to remove (also rowIDs) |
| blockID | string | optional |  | a block that shows it |

- Needs: rw on database avID, r on rows srcIDs, rw on the databases of two-way relations
- Kind: changes in many places; a person confirms it
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView, transactions

### Result

- \`success\`: none of them is there any more
- \`avID\`: database id
- \`srcIDs\`: the rows that are gone
- \`removed\`: how many
- \`verification\`: how that was found (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"remove_rows","avID":"20240801120000-avmain1","srcIDs":["20240801130000-detach1"]}
\`\`\`

Terminal:

\`\`\`sh
collie av remove-rows 20240801120000-avmain1 --src-i-ds 20240801130000-detach1
\`\`\`

## av(action="add_column")

Add a column.

What a relation, rollup or template column is to show has to be set up in SiYuan.

\`add_column(avID, keyName, keyType, keyID?, keyIcon?, previousKeyID?, blockID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| keyName | string | required |  | what it is called (also name) |
| keyType | string | required |  | what its cells hold: text, number, date, select, mSelect, url, email, phone, mAsset, template, created, updated, checkbox, relation, rollup, lineNumber (also type) |
| keyID | string | optional |  | its id; made up if not given |
| keyIcon | string | optional |  | code point in hex, such as 1f600 |
| previousKeyID | string | optional |  | column to put it after, "" for none; without it the last |
| blockID | string | optional |  | a block that shows it |

- Needs: rw on database avID
- Kind: creates
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView, transactions

### Result

- \`success\`: it is there
- \`avID\`: database id
- \`keyID\`: column id, which set_cells takes
- \`keyName\`: what it is called
- \`keyType\`: what its cells hold

### Example

MCP:

\`\`\`json
{"action":"add_column","avID":"20240801120000-avmain1","keyName":"Price","keyType":"number"}
\`\`\`

Terminal:

\`\`\`sh
collie av add-column 20240801120000-avmain1 Price number
\`\`\`

## av(action="remove_column")

Remove a column with all its cells.

\`remove_column(avID, keyID, removeRelationDest=false, blockID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| keyID | string | required |  | column to remove (also columnID) |
| removeRelationDest | boolean | optional | false | of a two-way relation: remove its other end as well |
| blockID | string | optional |  | a block that shows it |

- Needs: rw on database avID, r on column keyID, rw on the related database
- Kind: changes or removes; a person confirms it
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView, transactions

### Result

- \`success\`: it is gone
- \`avID\`: database id
- \`keyID\`: the column
- \`keyName\`: what it was called

### Example

MCP:

\`\`\`json
{"action":"remove_column","avID":"20240801120000-avmain1","keyID":"20240801120008-keytel1"}
\`\`\`

Terminal:

\`\`\`sh
collie av remove-column 20240801120000-avmain1 20240801120008-keytel1
\`\`\`

## av(action="set_cells")

Write cells of a database.

One cell stands beside avID, several in cells. valueType must be that of the column; its value stands in: text, number (numberFormat), date (endDate, includeTime), checkbox: checked, select: option, multi_select: options, relation: relationBlockIDs, url, email, phone, mAsset: assets; or in value. clear=true empties the cell. The primary column takes a text where the row is bound to no block; else edit the block.

\`set_cells(avID, cells?, blockID?, rowID?, columnID?, valueType?, value?, clear?, text?, number?, numberFormat?, date?, endDate?, includeTime?, checked?, option?, options?, relationBlockIDs?, url?, email?, phone?, assets?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| cells | object[] | optional |  | the cells to write (also items) |
| blockID | string | optional |  | a block that shows it |
| rowID | string | optional |  | row id, never a block's or a value's |
| columnID | string | optional |  | column id (also keyID) |
| valueType | string | optional |  | must fit the column: text, number, date, checkbox, select, multi_select, mSelect, relation, url, email, phone, mAsset |
| value | any | optional |  | the value, instead of the member for its type |
| clear | boolean | optional |  | empty the cell instead |
| text | string | optional |  | text |
| number | number | optional |  | number |
| numberFormat | string | optional |  | number: such as CNY or percent |
| date | any | optional |  | date: ISO text or epoch ms |
| endDate | any | optional |  | date: the end of a range |
| includeTime | boolean | optional |  | date: show the time of day |
| checked | boolean | optional |  | checkbox |
| option | string | optional |  | select: an option by its name |
| options | string[] | optional |  | multi_select: options by their names |
| relationBlockIDs | string[] | optional |  | relation: row ids of the other database |
| url | string | optional |  | url |
| email | string | optional |  | email |
| phone | string | optional |  | phone |
| assets | object[] | optional |  | mAsset |

- Needs: rw on database avID
- Kind: changes in many places
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/getAttributeView, transactions

### Result

- \`success\`: all of them have that value now
- \`avID\`: database id
- \`rowID\`: of the one cell
- \`columnID\`: of the one cell
- \`updated\`: how many
- \`verification\`: how that was found (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"set_cells","avID":"20240801120000-avmain1","rowID":"20240801130000-detach1","columnID":"20240801120001-keytext","valueType":"text","text":"done"}
\`\`\`

Terminal:

\`\`\`sh
collie av set-cells 20240801120000-avmain1 --row-id 20240801130000-detach1 --column-id 20240801120001-keytext --value-type text --text done
\`\`\`

## av(action="duplicate")

Copy a database and show the copy in a block of its own.

The copy has the same rows: those that are bound to blocks are bound to the same ones.

\`duplicate(avID, blockID?, previousID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database to copy (also id) |
| blockID | string | optional |  | the block of it to put the copy after |
| previousID | string | optional |  | another block to put the copy after |

- Needs: rw on database avID, rw on block previousID
- Kind: creates
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, block/getBlockDOM, av/duplicateAttributeViewBlock, lute/spinBlockDOM, transactions, block/appendBlock, block/getBlockInfo, av/getAttributeView

### Result

- \`success\`: the copy is there
- \`avID\`: id of the copy
- \`blockID\`: the block that shows it
- \`sourceAvID\`: what was copied (with verbose:true)
- \`insertedAfter\`: the block above (with verbose:true)
- \`materialized\`: the copy can be read (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"duplicate","avID":"20240801120000-avmain1"}
\`\`\`

Terminal:

\`\`\`sh
collie av duplicate 20240801120000-avmain1
\`\`\`

## av(action="get_primary_key_values")

List the rows of a database with their ids.

\`get_primary_key_values(avID, keyword?, page=1, pageSize=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| avID | string | required |  | database id (also id) |
| keyword | string | optional |  | only rows whose text holds this (also query) |
| page | integer | optional | 1 | from 1 |
| pageSize | integer | optional | 50 | rows a page |

- Needs: r on database avID
- Kind: reads
- Endpoints: file/readDir, av/getMirrorDatabaseBlocks, query/sql, av/getAttributeViewPrimaryKeyValues

### Result

- \`avID\`: database id
- \`name\`: of the database
- \`blockIDs\`: blocks that show it
- \`rows\`: the rows of this page
- \`rows[].rowID\`: what names the row
- \`rows[].content\`: text of the primary column
- \`rows[].blockID\`: the block that it is bound to
- \`rows[].isDetached\`: it is bound to none
- \`rows[].valueID\`: id of the primary value (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page

### Example

MCP:

\`\`\`json
{"action":"get_primary_key_values","avID":"20240801120000-avmain1","keyword":"row"}
\`\`\`

Terminal:

\`\`\`sh
collie av get-primary-key-values 20240801120000-avmain1 row
\`\`\`
`,"../../../docs/reference/siyuan/block.md":`# block

Single blocks by id. Ids and attributes stay; get_kramdown gives stateHash for ifMatch.

- [insert](#blockactioninsert): Insert content before, after or first into a block
- [prepend](#blockactionprepend): Add content at the beginning of a document or container block
- [append](#blockactionappend): Add content at the end of a document or container block
- [update](#blockactionupdate): Replace the content of a block; its id and attributes stay
- [replace](#blockactionreplace): Replace an exact text in a block; everything else stays
- [delete](#blockactiondelete): Delete a block with all that is in it
- [move](#blockactionmove): Move blocks behind a block, or first into a document or container
- [set_fold_state](#blockactionset_fold_state): Fold or unfold a block
- [get_kramdown](#blockactionget_kramdown): Read a block or document as Markdown with ids and attributes
- [batch_kramdown](#blockactionbatch_kramdown): Read up to 20 blocks as Markdown with ids and attributes
- [get_children](#blockactionget_children): List the blocks right below a document or block
- [transfer_references](#blockactiontransfer_references): Make references to one block refer to another
- [set_attrs](#blockactionset_attrs): Set or remove attributes of a block or document
- [get_attrs](#blockactionget_attrs): Read the attributes of a block or document
- [info](#blockactioninfo): Say in which notebook and document a block is
- [breadcrumb](#blockactionbreadcrumb): Show the way from its document down to a block
- [dom](#blockactiondom): Read a block in the editor's own form (DOM), at most 64 KiB
- [recent_updated](#blockactionrecent_updated): List what was written last, by document
- [word_count](#blockactionword_count): Count words, characters, links, images and references in blocks
- [add_to_daily_note](#blockactionadd_to_daily_note): Add content to a notebook's note of today, which is made if needed
- [docs_info](#blockactiondocs_info): Read title, icon, attributes and reference counts of documents

## block(action="insert")

Insert content before, after or first into a block.

One anchor is needed: nextID counts before previousID, that before parentID. New blocks get new ids, whatever ids the content has. References are written ((id 'text')).

\`insert(dataType?, data?, nextID?, previousID?, parentID?, blocks?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| dataType | string | optional |  | form of data: markdown, dom |
| data | string | optional |  | content; may be several blocks |
| nextID | string | optional |  | put it before this block |
| previousID | string | optional |  | put it after this block |
| parentID | string | optional |  | put it first into this document or container |
| blocks | object[] | optional |  | several insertions; the anchors beside it are for those that have none |

- Needs: rw on every anchor
- Kind: creates
- Endpoints: block/insertBlock, block/batchInsertBlock, block/getBlockTreeInfos, block/getBlockKramdowns, block/getChildBlocks

### Result

- \`success\`: true
- \`action\`: of this tool (with verbose:true)
- \`id\`: the first new block
- \`parentID\`: as given (with verbose:true)
- \`previousID\`: as given (with verbose:true)
- \`nextID\`: as given (with verbose:true)
- \`dataType\`: as given (with verbose:true)
- \`count\`: insertions, where several were given
- \`createdBlockIDs\`: all new blocks, in order
- \`transactions\`: the kernel's answer (with verbose:true)
- \`warning\`: references that could not be resolved, and the like

### Example

MCP:

\`\`\`json
{"action":"insert","dataType":"markdown","data":"a paragraph","previousID":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block insert --data-type markdown --data 'a paragraph' --previous-id 20260102030405-abcdefg
\`\`\`

## block(action="prepend")

Add content at the beginning of a document or container block.

A heading holds nothing: insert behind it instead. New blocks get new ids. References are written ((id 'text')).

\`prepend(dataType, data, parentID)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| dataType | string | required |  | form of data: markdown, dom |
| data | string | required |  | content; may be several blocks |
| parentID | string | required |  | document or container block |

- Needs: rw on block parentID
- Kind: creates
- Endpoints: block/prependBlock, block/insertBlock, block/getBlockTreeInfos, block/getChildBlocks, block/getBlockKramdowns

### Result

- \`success\`: true
- \`action\`: of this tool (with verbose:true)
- \`id\`: the first new block
- \`parentID\`: as given (with verbose:true)
- \`previousID\`: as given (with verbose:true)
- \`nextID\`: as given (with verbose:true)
- \`dataType\`: as given (with verbose:true)
- \`count\`: insertions, where several were given
- \`createdBlockIDs\`: all new blocks, in order
- \`transactions\`: the kernel's answer (with verbose:true)
- \`warning\`: references that could not be resolved, and the like

### Example

MCP:

\`\`\`json
{"action":"prepend","dataType":"markdown","data":"a paragraph","parentID":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block prepend --data-type markdown --data 'a paragraph' --parent-id 20260102030405-abcdefg
\`\`\`

## block(action="append")

Add content at the end of a document or container block.

A heading holds nothing: insert behind it instead. New blocks get new ids. References are written ((id 'text')).

\`append(dataType, data, parentID)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| dataType | string | required |  | form of data: markdown, dom |
| data | string | required |  | content; may be several blocks |
| parentID | string | required |  | document or container block |

- Needs: rw on block parentID
- Kind: creates
- Endpoints: block/appendBlock, block/insertBlock, block/getBlockTreeInfos, block/getChildBlocks, block/getBlockKramdowns

### Result

- \`success\`: true
- \`action\`: of this tool (with verbose:true)
- \`id\`: the first new block
- \`parentID\`: as given (with verbose:true)
- \`previousID\`: as given (with verbose:true)
- \`nextID\`: as given (with verbose:true)
- \`dataType\`: as given (with verbose:true)
- \`count\`: insertions, where several were given
- \`createdBlockIDs\`: all new blocks, in order
- \`transactions\`: the kernel's answer (with verbose:true)
- \`warning\`: references that could not be resolved, and the like

### Example

MCP:

\`\`\`json
{"action":"append","dataType":"markdown","data":"a paragraph","parentID":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block append --data-type markdown --data 'a paragraph' --parent-id 20260102030405-abcdefg
\`\`\`

## block(action="update")

Replace the content of a block; its id and attributes stay.

Where the content has several blocks the first takes the block's place and the others are put behind it. A document is overwritten as with fs write. For a small change of a long block use replace.

\`update(id?, dataType?, data?, items?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | optional |  | block, or document to overwrite |
| dataType | string | optional |  | form of data: markdown, dom |
| data | string | optional |  | its new content |
| items | object[] | optional |  | several blocks, each once |

- Needs: rw on block id, rw on block items[].id
- Kind: changes or removes
- Endpoints: block/getBlockTreeInfos, block/getBlockKramdowns, block/getBlockKramdown, block/getChildBlocks, attr/batchGetBlockAttrs, block/updateBlock, block/batchUpdateBlock, attr/setBlockAttrs, attr/batchSetBlockAttrs, block/insertBlock, block/appendBlock, block/deleteBlock, transactions, attr/getBlockAttrs, query/sql, sqlite/flushTransaction

### Result

- \`success\`: true
- \`id\`: the block
- \`dataType\`: as given (with verbose:true)
- \`markdown\`: its text now (with verbose:true)
- \`updated\`: when, as YYYYMMDDhhmmss
- \`attributesPreserved\`: whether all its attributes are there (with verbose:true)
- \`preservedAttributeCount\`: how many were put back (with verbose:true)
- \`createdBlockIDs\`: blocks behind it, where the content had several
- \`warning\`: what else changed
- \`databaseBlock\`: where a database stood: avID and hint
- \`count\`: blocks, where items was given
- \`items\`: the same members for each of items
- \`items[].dataType\`: as given (with verbose:true)
- \`items[].markdown\`: its text now (with verbose:true)
- \`items[].attributesPreserved\`: whether all its attributes are there (with verbose:true)
- \`items[].preservedAttributeCount\`: how many were put back (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"update","id":"20260102030405-abcdefg","dataType":"markdown","data":"new text"}
\`\`\`

Terminal:

\`\`\`sh
collie block update --id 20260102030405-abcdefg --data-type markdown --data 'new text'
\`\`\`

## block(action="replace")

Replace an exact text in a block; everything else stays.

All edits are found before anything is written. old must be there once, unless replace_all is true. In a document each edit is within one block.

\`replace(id, edit)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |
| edit | any | required |  | {old, new, replace_all}, or several; old is the text as it is read, without attributes |

- Needs: rw on block id
- Kind: changes or removes
- Endpoints: block/getBlockTreeInfos, block/getChildBlocks, block/getBlockKramdowns, block/updateBlock, block/batchUpdateBlock, block/insertBlock, attr/setBlockAttrs, attr/getBlockAttrs, query/sql

### Result

- \`success\`: true
- \`id\`: as given
- \`changed\`: something is different now
- \`editsApplied\`: how many edits were made
- \`replacements\`: {index, replaced, replace_all} of each edit
- \`changedBlocks\`: ids of the blocks that were written (with verbose:true)
- \`createdBlockIDs\`: blocks that were inserted, where a text became several
- \`attributesPreserved\`: attributes were checked afterwards (with verbose:true)
- \`skippedComplexBlocks\`: blocks that are not text and were not searched
- \`warning\`: what that means
- \`recommendedTools\`: what handles them
- \`warnings\`: what became of references

### Example

MCP:

\`\`\`json
{"action":"replace","id":"20260102030405-abcdefg","edit":{"old":"teh","new":"the"}}
\`\`\`

Terminal:

\`\`\`sh
collie block replace 20260102030405-abcdefg --old teh --new the
\`\`\`

## block(action="delete")

Delete a block with all that is in it.

The blocks below a heading stay. Documents are deleted with document remove.

\`delete(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |

- Needs: rwd on block id
- Kind: changes or removes; a person confirms it; off by default
- Endpoints: block/deleteBlock, sqlite/flushTransaction, block/getBlockTreeInfos

### Result

- \`success\`: true
- \`id\`: the block that is gone

### Example

MCP:

\`\`\`json
{"action":"delete","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block delete 20260102030405-abcdefg
\`\`\`

## block(action="move")

Move blocks behind a block, or first into a document or container.

Into another notebook it needs rwd where the blocks come from. Documents are moved with document move.

\`move(id?, ids?, previousID?, parentID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | optional |  | one block |
| ids | string[] | optional |  | several, in the order they shall have |
| previousID | string | optional |  | block to put them after; counts before parentID |
| parentID | string | optional |  | document or container to put them first into |

- Needs: rwd on blocks that leave their notebook, rw on block id, rw on block ids, rw on block previousID, rw on block parentID
- Kind: changes order or place; a person confirms it
- Endpoints: block/moveBlock, block/getBlockTreeInfos, block/getBlockKramdowns, transactions, sqlite/flushTransaction, attr/getBlockAttrs, block/getChildBlocks

### Result

- \`success\`: true
- \`id\`: the block
- \`ids\`: the blocks (with verbose:true)
- \`finalOrder\`: their order now
- \`apiCallOrder\`: the order they were moved in (with verbose:true)
- \`count\`: blocks moved
- \`warning\`: blocks that stand in another place than asked for

### Example

MCP:

\`\`\`json
{"action":"move","id":"20260102030405-abcdefg","previousID":"20260102030405-bcdefgh"}
\`\`\`

Terminal:

\`\`\`sh
collie block move --id 20260102030405-abcdefg --previous-id 20260102030405-bcdefgh
\`\`\`

## block(action="set_fold_state")

Fold or unfold a block.

\`set_fold_state(id, folded)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block |
| folded | boolean | required |  | true folds, false unfolds |

- Needs: rw on block id
- Kind: changes or removes
- Endpoints: block/foldBlock, block/unfoldBlock, attr/getBlockAttrs

### Result

- \`success\`: true
- \`id\`: the block
- \`folded\`: its state now

### Example

MCP:

\`\`\`json
{"action":"set_fold_state","id":"20260102030405-abcdefg","folded":true}
\`\`\`

Terminal:

\`\`\`sh
collie block set-fold-state 20260102030405-abcdefg true
\`\`\`

## block(action="get_kramdown")

Read a block or document as Markdown with ids and attributes.

Give stateHash back as ifMatch to be refused if somebody changed the block meanwhile.

\`get_kramdown(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |

- Needs: r on block id
- Kind: reads
- Endpoints: block/getBlockKramdown, query/sql

### Result

- \`id\`: the block
- \`kramdown\`: its text; {: id="…"} lines hold ids and attributes
- \`stateHash\`: for ifMatch of a later write

### Example

MCP:

\`\`\`json
{"action":"get_kramdown","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block get-kramdown 20260102030405-abcdefg
\`\`\`

## block(action="batch_kramdown")

Read up to 20 blocks as Markdown with ids and attributes.

One that cannot be read fails alone. Order and duplicates of ids are kept.

\`batch_kramdown(ids, mode=md)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| ids | string[] | required |  | blocks or documents, in the order of the answer |
| mode | string | optional | md | md, or textmark: inline styles as span elements: md, textmark |

- Needs: no level: the level is checked for each id by itself, so that one fails alone
- Kind: reads
- Endpoints: block/getBlockKramdowns, query/sql

### Result

- \`items[].id\`: as it was asked for
- \`items[].ok\`: whether it was read
- \`items[].kramdown\`: its text with ids and attributes
- \`items[].stateHash\`: for ifMatch of a later write (mode md)
- \`items[].error\`: type, code, message and hint where it was not read
- \`requested\`: ids that were given
- \`succeeded\`: of them read
- \`failed\`: of them not read
- \`partial\`: whether any failed

### Example

MCP:

\`\`\`json
{"action":"batch_kramdown","ids":["20260102030405-abcdefg"]}
\`\`\`

Terminal:

\`\`\`sh
collie block batch-kramdown '["20260102030405-abcdefg"]'
\`\`\`

## block(action="get_children")

List the blocks right below a document or block.

Below a heading stands its section, down to the next heading of its level. A leaf has no children.

\`get_children(id, page=1, pageSize=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |
| page | integer | optional | 1 | from 1 |
| pageSize | integer | optional | 50 | blocks a page |

- Needs: r on block id
- Kind: reads
- Endpoints: block/getChildBlocks, query/sql

### Result

- \`data\`: what is on this page
- \`data[].id\`: the child
- \`data[].type\`: p, h, l, i, b, c, m, t, s, av, …
- \`data[].subType\`: h1 to h6 of headings; u, o, t of lists
- \`data[].content\`: plain text
- \`data[].markdown\`: Markdown (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`hint\`: how to go on

### Example

MCP:

\`\`\`json
{"action":"get_children","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block get-children 20260102030405-abcdefg
\`\`\`

## block(action="transfer_references")

Make references to one block refer to another.

The blocks that hold the references change too, so those in notebooks that may not be written are left out.

\`transfer_references(fromID, toID, refIDs?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| fromID | string | required |  | block that is referred to now |
| toID | string | required |  | block to refer to instead |
| refIDs | string[] | optional |  | only the references in these blocks; else all that may be written |

- Needs: rw on block fromID, rw on block toID, rw on block refIDs
- Kind: changes in many places; a person confirms it
- Endpoints: query/sql, sqlite/flushTransaction, block/transferBlockRef, block/getBlockKramdowns

### Result

- \`success\`: true
- \`fromID\`: as given
- \`toID\`: as given
- \`count\`: blocks whose references were changed
- \`refIDs\`: these blocks (with verbose:true)
- \`skippedCount\`: blocks left out because they may not be written
- \`warning\`: what was left out

### Example

MCP:

\`\`\`json
{"action":"transfer_references","fromID":"20260102030405-abcdefg","toID":"20260102030405-bcdefgh"}
\`\`\`

Terminal:

\`\`\`sh
collie block transfer-references --from-id 20260102030405-abcdefg --to-id 20260102030405-bcdefgh
\`\`\`

## block(action="set_attrs")

Set or remove attributes of a block or document.

The others stay as they are. title renames a document.

\`set_attrs(id, attrs, allowSystemAttrs=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |
| attrs | object | required |  | name, alias, memo, bookmark, icon, title, title-img, style, custom-*; "" removes |
| allowSystemAttrs | boolean | optional | false | also custom-riff-decks and custom-avs; only a person at a terminal |

- Needs: rw on block id
- Kind: changes or removes
- Endpoints: attr/setBlockAttrs, attr/getBlockAttrs

### Result

- \`success\`: true
- \`id\`: the block
- \`attrs\`: those that were set, as they are now

### Example

MCP:

\`\`\`json
{"action":"set_attrs","id":"20260102030405-abcdefg","attrs":{"custom-status":"done","memo":""}}
\`\`\`

Terminal:

\`\`\`sh
collie block set-attrs 20260102030405-abcdefg --attrs-json '{"custom-status":"done","memo":""}'
\`\`\`

## block(action="get_attrs")

Read the attributes of a block or document.

Databases that the block is a row of are left out where some notebook may not be read.

\`get_attrs(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |

- Needs: r on block id
- Kind: reads
- Endpoints: attr/getBlockAttrs

### Result

- \`*\`: each attribute by its name: name, alias, memo, bookmark, custom-…

### Example

MCP:

\`\`\`json
{"action":"get_attrs","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block get-attrs 20260102030405-abcdefg
\`\`\`

## block(action="info")

Say in which notebook and document a block is.

\`info(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |

- Needs: r on block id
- Kind: reads
- Endpoints: block/getBlockInfo

### Result

- \`box\`: notebook
- \`path\`: storage path of the document
- \`rootID\`: document
- \`rootTitle\`: title of the document
- \`rootIcon\`: its icon (with verbose:true)
- \`rootTitleEmpty\`: whether the title is empty (with verbose:true)
- \`rootChildID\`: the block right below the document (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"info","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block info 20260102030405-abcdefg
\`\`\`

## block(action="breadcrumb")

Show the way from its document down to a block.

\`breadcrumb(id, excludeTypes?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |
| excludeTypes | string[] | optional |  | node types to leave out, such as NodeTextMark-mark |

- Needs: r on block id
- Kind: reads
- Endpoints: block/getBlockBreadcrumb, block/getBlockKramdowns, query/sql

### Result

- \`[].id\`: the step; the document comes first
- \`[].name\`: its text; of a document notebook and path
- \`[].type\`: NodeDocument, NodeHeading, …
- \`[].subType\`: h1 to h6 of headings

### Example

MCP:

\`\`\`json
{"action":"breadcrumb","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block breadcrumb 20260102030405-abcdefg
\`\`\`

## block(action="dom")

Read a block in the editor's own form (DOM), at most 64 KiB.

For text get_kramdown is shorter. A longer DOM is cut after a whole block.

\`dom(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |

- Needs: r on block id
- Kind: reads
- Endpoints: block/getBlockDOM, query/sql

### Result

- \`id\`: the block
- \`dom\`: its DOM
- \`truncated\`: whether it was cut
- \`totalBytes\`: length before the cut
- \`hint\`: how to read the rest

### Example

MCP:

\`\`\`json
{"action":"dom","id":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie block dom 20260102030405-abcdefg
\`\`\`

## block(action="recent_updated")

List what was written last, by document.

\`recent_updated(count=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| count | integer | optional | 50 | most blocks to look at; the kernel keeps few |

- Needs: no level: what is in notebooks that may not be read is left out
- Kind: reads
- Endpoints: block/getRecentUpdatedBlocks, sqlite/flushTransaction, query/sql

### Result

- \`documents[].documentId\`: document, the latest first
- \`documents[].notebook\`: its notebook
- \`documents[].path\`: its storage path (with verbose:true)
- \`documents[].hPath\`: its human path in the notebook
- \`documents[].name\`: its title
- \`documents[].updatedBlockCount\`: blocks of it in the list
- \`documents[].sampleBlocks\`: up to 3 of them: id, type, excerpt
- \`documentCount\`: documents
- \`count\`: blocks
- \`containsLowLevelBlocks\`: whether blocks below documents are among them (with verbose:true)
- \`grouping\`: document (with verbose:true)
- \`primaryView\`: documents (with verbose:true)
- \`items\`: all blocks in one list, the latest first (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"recent_updated"}
\`\`\`

Terminal:

\`\`\`sh
collie block recent-updated
\`\`\`

## block(action="word_count")

Count words, characters, links, images and references in blocks.

\`word_count(ids)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| ids | string[] | required |  | blocks or documents (also id) |

- Needs: r on block ids
- Kind: reads
- Endpoints: block/getBlocksWordCount, block/getBlockKramdowns, query/sql

### Result

- \`linkCount\`: links
- \`imageCount\`: images
- \`refCount\`: block references
- \`blockCount\`: blocks
- \`runeCount\`: characters
- \`wordCount\`: words; of Chinese each character
- \`hint\`: why words and characters are missing

### Example

MCP:

\`\`\`json
{"action":"word_count","ids":["20260102030405-abcdefg"]}
\`\`\`

Terminal:

\`\`\`sh
collie block word-count '["20260102030405-abcdefg"]'
\`\`\`

## block(action="add_to_daily_note")

Add content to a notebook's note of today, which is made if needed.

\`add_to_daily_note(notebook, dataType, data, position)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| dataType | string | required |  | form of data: markdown, dom |
| data | string | required |  | content; may be several blocks |
| position | string | required |  | append adds at the end, prepend at the beginning: append, prepend |

- Needs: rw on notebook notebook, r on every notebook, where the path or template of daily notes does more than texts, numbers and dates
- Kind: creates
- Endpoints: notebook/getNotebookConf, search/searchTemplate, file/readDir, file/getFile, block/appendDailyNoteBlock, block/prependDailyNoteBlock, block/insertBlock, block/getBlockTreeInfos, block/getChildBlocks, block/getBlockKramdowns

### Result

- \`success\`: true
- \`notebook\`: as given
- \`documentId\`: the note of today
- \`id\`: the first new block
- \`createdBlockIDs\`: all new blocks, in order
- \`dataType\`: as given (with verbose:true)
- \`position\`: as given (with verbose:true)
- \`transactions\`: the kernel's answer (with verbose:true)
- \`warning\`: references that could not be resolved, and the like

### Example

MCP:

\`\`\`json
{"action":"add_to_daily_note","notebook":"20260102030405-abcdefg","dataType":"markdown","data":"- a log entry","position":"append"}
\`\`\`

Terminal:

\`\`\`sh
collie block add-to-daily-note --notebook 20260102030405-abcdefg --data-type markdown --data '- a log entry' --position append
\`\`\`

## block(action="docs_info")

Read title, icon, attributes and reference counts of documents.

The id of a block means its document. References from notebooks that may not be read are not counted.

\`docs_info(id?, ids?, refCount=false, av=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | optional |  | one document |
| ids | string[] | optional |  | documents |
| refCount | boolean | optional | false | also count and list references to them |
| av | boolean | optional | false | also list databases that they stand in |

- Needs: r on document id, r on document ids
- Kind: reads
- Endpoints: block/getDocsInfo

### Result

- \`[].id\`: document
- \`[].rootID\`: the same (with verbose:true)
- \`[].name\`: title
- \`[].refCount\`: references to it
- \`[].subFileCount\`: documents right below it
- \`[].refIDs\`: blocks that refer to it
- \`[].ial\`: attributes
- \`[].icon\`: icon
- \`[].attrViews\`: databases that it stands in

### Example

MCP:

\`\`\`json
{"action":"docs_info","ids":["20260102030405-abcdefg"]}
\`\`\`

Terminal:

\`\`\`sh
collie block docs-info '["20260102030405-abcdefg"]'
\`\`\`
`,"../../../docs/reference/siyuan/document.md":`# document

Documents by id: create, find, read, move, copy, split, merge.

- [create](#documentactioncreate): Create a document from Markdown
- [lookup](#documentactionlookup): Turn a document's id, storage path or human path into the others
- [rename](#documentactionrename): Give a document another title
- [remove](#documentactionremove): Delete documents with all documents below them
- [move](#documentactionmove): Move documents below another document or notebook
- [reorder](#documentactionreorder): Put the documents below a document or notebook in order
- [get_child_blocks](#documentactionget_child_blocks): List the blocks of a document with their ids
- [get_child_docs](#documentactionget_child_docs): List the documents right below a document
- [set_attr](#documentactionset_attr): Set the icon or the cover of a document
- [list_tree](#documentactionlist_tree): Show the tree of documents of a notebook or below a document
- [search_docs](#documentactionsearch_docs): Find documents of a notebook by their titles
- [get_doc](#documentactionget_doc): Read a document as Markdown, window by window, or as HTML
- [get_outline](#documentactionget_outline): Show the headings of a document as a tree
- [create_daily_note](#documentactioncreate_daily_note): Create today's daily note, or find it
- [duplicate](#documentactionduplicate): Copy a document beside itself
- [heading_to_doc](#documentactionheading_to_doc): Make a heading and what is under it a document of its own
- [doc_to_heading](#documentactiondoc_to_heading): Put a document as a heading into another document

## document(action="create")

Create a document from Markdown.

Give path, whose missing parents are made too, or parentPath and title. A path that is taken is refused unless allowDuplicate is true. A first line "# Title" that repeats the title is left out. SiYuan allows 7 levels of documents.

\`create(notebook, path?, parentPath?, title?, markdown=, icon?, allowDuplicate=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| path | string | optional |  | human path in the notebook, such as /Projects/Alpha |
| parentPath | string | optional |  | human or storage path of the parent, with title |
| title | string | optional |  | title, with parentPath |
| markdown | string | optional |  | body |
| icon | string | optional |  | emoji, or its code points such as 1f4d4 |
| allowDuplicate | boolean | optional | false | make a second document of the same path |

- Needs: rw on notebook notebook
- Kind: creates
- Endpoints: filetree/getIDsByHPath, filetree/createDocWithMd, filetree/getHPathByID, filetree/moveDocsByID, block/getBlockInfo, attr/setBlockAttrs, query/sql, sqlite/flushTransaction

### Result

- \`success\`: true
- \`id\`: document id
- \`notebook\`: notebook id
- \`path\`: storage path
- \`hPath\`: human path
- \`title\`: title
- \`parentPath\`: the parent as it was given (with verbose:true)
- \`resolvedParentPath\`: human path of the parent (with verbose:true)
- \`iconHint\`: how to give it an icon, where it has none (with verbose:true)
- \`warnings\`: what a reader of the text should know

### Example

MCP:

\`\`\`json
{"action":"create","notebook":"20240101120000-abcdefg","path":"/Projects/Alpha","markdown":"First *draft*"}
\`\`\`

Terminal:

\`\`\`sh
collie document create 20240101120000-abcdefg /Projects/Alpha --markdown 'First *draft*'
\`\`\`

## document(action="lookup")

Turn a document's id, storage path or human path into the others.

Give exactly one of id, notebook and path, notebook and hpath. A human path may be that of several documents: ids has all of them then, and id is the first.

\`lookup(id?, notebook?, path?, hpath?, include=["path","hpath"])\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | optional |  | id of a document, or of a block in it |
| notebook | string | optional |  | notebook id, with path or hpath |
| path | string | optional |  | storage path, with notebook |
| hpath | string | optional |  | human path, with notebook (also hPath) |
| include | string[] | optional | ["path","hpath"] | what to return: id, ids, path, hpath, docInfo |

- Needs: r on the document
- Kind: reads
- Endpoints: filetree/getIDsByHPath, filetree/getHPathByID, block/getBlockInfo, block/getDocInfo, notebook/lsNotebooks, query/sql, sqlite/flushTransaction

### Result

- \`humanPath\`: if hpath is included
- \`humanPath.notebookName\`: name of the notebook
- \`humanPath.hPath\`: human path in the notebook
- \`idPath\`: the document by ids
- \`idPath.id\`: document id
- \`idPath.ids\`: all documents of the human path, if there are several or ids is included
- \`idPath.notebook\`: notebook id
- \`idPath.path\`: storage path, if path is included
- \`docInfo\`: what SiYuan knows of the document, if docInfo is included

### Example

MCP:

\`\`\`json
{"action":"lookup","notebook":"20240101120000-abcdefg","hpath":"/Projects/Alpha"}
\`\`\`

Terminal:

\`\`\`sh
collie document lookup --notebook 20240101120000-abcdefg --hpath /Projects/Alpha
\`\`\`

## document(action="rename")

Give a document another title.

Give id, or notebook and path. A title has no "/" in it. Documents below keep their place.

\`rename(title, id?, notebook?, path?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | optional |  | document id |
| notebook | string | optional |  | notebook id, with path |
| path | string | optional |  | storage path, with notebook |
| title | string | required |  | new title |

- Needs: rw on the document
- Kind: changes or removes
- Endpoints: filetree/renameDocByID, filetree/getHPathByID, block/getBlockInfo

### Result

- \`success\`: true
- \`id\`: document id
- \`notebook\`: notebook id
- \`path\`: storage path
- \`hPath\`: human path
- \`title\`: its title now

### Example

MCP:

\`\`\`json
{"action":"rename","id":"20240101120000-abcdefg","title":"Meeting notes"}
\`\`\`

Terminal:

\`\`\`sh
collie document rename 20240101120000-abcdefg 'Meeting notes'
\`\`\`

## document(action="remove")

Delete documents with all documents below them.

Give one of id, notebook and path, ids, paths. SiYuan keeps a copy in its history.

\`remove(id?, notebook?, path?, ids?, paths?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | optional |  | document id |
| notebook | string | optional |  | notebook id, with path |
| path | string | optional |  | storage path, with notebook |
| ids | string[] | optional |  | document ids |
| paths | string[] | optional |  | storage paths |

- Needs: rwd on each document
- Kind: changes or removes; a person confirms it; off by default
- Endpoints: filetree/removeDocByID, block/getBlockInfo, query/sql

### Result

- \`success\`: true
- \`id\`: the document, of a single one
- \`ids\`: the documents, of several
- \`paths\`: their storage paths, where paths was given
- \`count\`: how many were named

### Example

MCP:

\`\`\`json
{"action":"remove","id":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie document remove 20240101120000-abcdefg
\`\`\`

## document(action="move")

Move documents below another document or notebook.

Give fromIDs and toID, or fromPaths, toNotebook and toPath. Documents below come along, also where they are named too. Into another notebook it needs rwd where they come from.

\`move(fromIDs?, toID?, fromPaths?, toNotebook?, toPath?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| fromIDs | string[] | optional |  | document ids, with toID |
| toID | string | optional |  | document or notebook to move them below |
| fromPaths | string[] | optional |  | storage paths, with toNotebook and toPath |
| toNotebook | string | optional |  | notebook id |
| toPath | string | optional |  | storage path of a document there, / for its top |

- Needs: rwd on documents that leave their notebook, rw on each document that moves, rw on where they go
- Kind: changes order or place; a person confirms it
- Endpoints: filetree/moveDocsByID, filetree/upsertIndexes, block/getBlockInfo, notebook/lsNotebooks, query/sql

### Result

- \`success\`: true
- \`fromIDs\`: the documents
- \`toID\`: document or notebook that they are below now
- \`notebook\`: notebook id
- \`paths\`: their storage paths now
- \`count\`: how many

### Example

MCP:

\`\`\`json
{"action":"move","fromIDs":["20240101120000-abcdefg"],"toID":"20240101120000-hijklmn"}
\`\`\`

Terminal:

\`\`\`sh
collie document move --from-i-ds 20240101120000-abcdefg --to-id 20240101120000-hijklmn
\`\`\`

## document(action="reorder")

Put the documents below a document or notebook in order.

orderedIDs must have every document right below the parent. A kernel before 3.8.1 has no order for a single document: then all of the notebook is shown in its custom order (sortModeScope).

\`reorder(parentID, orderedIDs)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| parentID | string | required |  | document or notebook |
| orderedIDs | string[] | required |  | every document right below it, once, in order |

- Needs: rw on the parent
- Kind: changes order or place
- Endpoints: notebook/getNotebookConf, filetree/listDocsByPath, filetree/changeSort, filetree/setDocSortMode, notebook/setNotebookConf, attr/getBlockAttrs

### Result

- \`success\`: true
- \`parentID\`: document or notebook
- \`notebook\`: notebook id
- \`changed\`: whether anything changed
- \`orderChanged\`: whether the custom order did
- \`sortModeChanged\`: whether the custom order is shown only from now on
- \`sortModeScope\`: what that holds for: document or notebook
- \`previousOrder\`: the order before
- \`order\`: the order now (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"reorder","parentID":"20240101120000-abcdefg","orderedIDs":["20240102120000-hijklmn","20240103120000-opqrstu"]}
\`\`\`

Terminal:

\`\`\`sh
collie document reorder --parent-id 20240101120000-abcdefg --ordered-i-ds 20240102120000-hijklmn --ordered-i-ds 20240103120000-opqrstu
\`\`\`

## document(action="get_child_blocks")

List the blocks of a document with their ids.

Blocks inside lists, quotes and the like are listed by their own container's id.

\`get_child_blocks(id, page=1, pageSize=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document id |
| page | integer | optional | 1 | page of the result |
| pageSize | integer | optional | 50 | blocks a page |

- Needs: r on document id
- Kind: reads
- Endpoints: block/getChildBlocks, query/sql

### Result

- \`data\`: what is on this page
- \`data[].id\`: block id
- \`data[].type\`: p paragraph, h heading, l list, c code, …
- \`data[].subType\`: h1 to h6, u, o or t
- \`data[].content\`: text without marks (with verbose:true)
- \`data[].markdown\`: text with its marks
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`id\`: document id

### Example

MCP:

\`\`\`json
{"action":"get_child_blocks","id":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie document get-child-blocks 20240101120000-abcdefg
\`\`\`

## document(action="get_child_docs")

List the documents right below a document.

Those at the top of a notebook: notebook(action="get_child_docs").

\`get_child_docs(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document id |

- Needs: r on document id
- Kind: reads
- Endpoints: filetree/listDocsByPath, filetree/getHPathByID

### Result

- \`[].id\`: document id
- \`[].notebook\`: notebook id (with verbose:true)
- \`[].path\`: storage path
- \`[].hPath\`: human path in the notebook
- \`[].name\`: title
- \`[].icon\`: icon (with verbose:true)
- \`[].subFileCount\`: documents right below it

### Example

MCP:

\`\`\`json
{"action":"get_child_docs","id":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie document get-child-docs 20240101120000-abcdefg
\`\`\`

## document(action="set_attr")

Set the icon or the cover of a document.

Other attributes: block(action="set_attrs").

\`set_attr(id, attrs)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document id |
| attrs | object | required |  | what to change |

- Needs: rw on document id
- Kind: changes or removes
- Endpoints: attr/setBlockAttrs, attr/getBlockAttrs

### Result

- \`success\`: true
- \`id\`: document id
- \`attrs\`: attributes as they are stored now

### Example

MCP:

\`\`\`json
{"action":"set_attr","id":"20240101120000-abcdefg","attrs":{"icon":"1f4d4","cover":null}}
\`\`\`

Terminal:

\`\`\`sh
collie document set-attr --id 20240101120000-abcdefg --attrs-json '{"cover":null,"icon":"1f4d4"}'
\`\`\`

## document(action="list_tree")

Show the tree of documents of a notebook or below a document.

Below maxDepth the documents are only counted: list that path for them.

\`list_tree(notebook, path, maxDepth=3)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| path | string | required |  | storage path of a document, / for the whole notebook |
| maxDepth | integer | optional | 3 | levels to list |

- Needs: r on the notebook
- Kind: reads
- Endpoints: filetree/listDocsByPath, block/getBlockInfo

### Result

- \`box\`: notebook id
- \`path\`: storage path that the tree is below
- \`tree\`: documents, each with those below it in children
- \`tree[].id\`: document id
- \`tree[].name\`: title
- \`tree[].icon\`: icon (with verbose:true)
- \`tree[].path\`: storage path
- \`tree[].children\`: documents below it, in the same form
- \`tree[].children[].icon\`: icon (with verbose:true)
- \`tree[].childCount\`: how many there are below it, where they are not listed
- \`tree[].childrenTruncated\`: true where they are not listed
- \`maxDepth\`: levels that are listed
- \`depthHint\`: how to see deeper, where there is more
- \`partial\`: whether something could not be listed
- \`errors\`: what, and why

### Example

MCP:

\`\`\`json
{"action":"list_tree","notebook":"20240101120000-abcdefg","path":"/"}
\`\`\`

Terminal:

\`\`\`sh
collie document list-tree 20240101120000-abcdefg /
\`\`\`

## document(action="search_docs")

Find documents of a notebook by their titles.

Each word must be in the title, or in the name or alias of the document, or in a title above it. Text in documents: search(action="fulltext").

\`search_docs(notebook, query, path?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| query | string | required |  | words of the title |
| path | string | optional |  | only below this human or storage path |

- Needs: r on notebook notebook
- Kind: reads
- Endpoints: query/sql, sqlite/flushTransaction, filetree/searchDocs

### Result

- \`docs\`: documents found, those of other notebooks left out
- \`docs[].id\`: document id
- \`docs[].notebook\`: notebook id (with verbose:true)
- \`docs[].path\`: storage path
- \`docs[].hPath\`: human path in the notebook
- \`docs[].name\`: title
- \`total\`: how many
- \`path\`: the scope that was given
- \`pathApplied\`: whether a scope was given
- \`pathFilteredOutCount\`: how many were outside of it
- \`truncated\`: true where not all are shown
- \`hint\`: what to do about it

### Example

MCP:

\`\`\`json
{"action":"search_docs","notebook":"20240101120000-abcdefg","query":"meeting"}
\`\`\`

Terminal:

\`\`\`sh
collie document search-docs 20240101120000-abcdefg meeting
\`\`\`

## document(action="get_doc")

Read a document as Markdown, window by window, or as HTML.

Whole blocks from blockStart on, as many as blockLimit and tokenBudget allow; nextWindow has the arguments for what follows. html is the editor's own form.

\`get_doc(id, mode=markdown, size=1024, blockStart=0, blockLimit=50, tokenBudget=2000, includeBlockIds=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document id |
| mode | string | optional | markdown | form of the content: markdown, html |
| size | integer | optional | 1024 | blocks to load, of html |
| blockStart | integer | optional | 0 | first block to read |
| blockLimit | integer | optional | 50 | blocks at most |
| tokenBudget | integer | optional | 2000 | tokens at most, estimated |
| includeBlockIds | boolean | optional | false | add the ids of the blocks |

- Needs: r on document id
- Kind: reads
- Endpoints: block/getChildBlocks, block/getBlockKramdowns, block/getBlockKramdown, filetree/getDoc, filetree/getHPathByID, notebook/lsNotebooks, query/sql

### Result

- \`id\`: document id
- \`mode\`: markdown or html
- \`notebook\`: notebook id
- \`notebookName\`: its name
- \`hPath\`: human path in the notebook
- \`content\`: Markdown of whole blocks
- \`outline\`: headings: {blockIndex, level, title, id}
- \`blockStart\`: first block (with verbose:true)
- \`blockLimit\`: blocks at most (with verbose:true)
- \`returnedBlocks\`: blocks here (with verbose:true)
- \`totalBlocks\`: blocks of the document
- \`tokenBudget\`: tokens at most (with verbose:true)
- \`estimatedTokens\`: tokens here, estimated
- \`tokenMode\`: how they are estimated (with verbose:true)
- \`budgetExceeded\`: the first block alone is larger than the budget
- \`truncated\`: blocks follow
- \`hasNextWindow\`: the same (with verbose:true)
- \`nextWindow\`: arguments that read on
- \`nextWindowHint\`: the same in words (with verbose:true)
- \`blockRefs\`: {blockIndex, id, type} of each block, with includeBlockIds
- \`attributeViews\`: databases: {blockID, avID}
- \`warning\`: what the text does not show
- \`avToolHint\`: how to read the databases
- \`nonFidelityWarning\`: blocks are more than their text
- \`complexBlockTypes\`: their types
- \`recommendedReads\`: what shows them (with verbose:true)
- \`stateHash\`: for ifMatch, where the window is the whole document, or with verbose
- \`blockCount\`: blocks of the document, of html
- \`eof\`: whether all of them are there, of html

### Example

MCP:

\`\`\`json
{"action":"get_doc","id":"20240101120000-abcdefg","tokenBudget":4000}
\`\`\`

Terminal:

\`\`\`sh
collie document get-doc 20240101120000-abcdefg --token-budget 4000
\`\`\`

## document(action="get_outline")

Show the headings of a document as a tree.

The id of a heading works like any block id; the blocks under it are its children.

\`get_outline(id, preview=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document id |
| preview | boolean | optional | false | include the document's title |

- Needs: r on document id
- Kind: reads
- Endpoints: outline/getDocOutline, block/getBlockKramdowns, query/sql

### Result

- \`id\`: document id
- \`notebook\`: notebook id
- \`preview\`: as given (with verbose:true)
- \`headingCount\`: how many headings
- \`outline\`: headings, each with those below it in children
- \`outline[].id\`: block id of the heading
- \`outline[].level\`: 1 to 6
- \`outline[].title\`: its text
- \`outline[].children\`: headings below it, in the same form

### Example

MCP:

\`\`\`json
{"action":"get_outline","id":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie document get-outline 20240101120000-abcdefg
\`\`\`

## document(action="create_daily_note")

Create today's daily note, or find it.

Where it goes, notebook(action="get_conf") says: dailyNoteSavePath.

\`create_daily_note(notebook, app?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| app | string | optional |  | id of the SiYuan window that asks |

- Needs: rw on notebook notebook, r on every notebook, where the path or template of daily notes does more than texts, numbers and dates
- Kind: creates
- Endpoints: notebook/getNotebookConf, search/searchTemplate, file/readDir, file/getFile, filetree/createDailyNote, filetree/getHPathByID, block/getBlockInfo

### Result

- \`success\`: true
- \`id\`: document id
- \`notebook\`: notebook id
- \`path\`: storage path
- \`hPath\`: human path
- \`iconHint\`: how to give it an icon (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"create_daily_note","notebook":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie document create-daily-note 20240101120000-abcdefg
\`\`\`

## document(action="duplicate")

Copy a document beside itself.

Documents below it are not copied. The copy has the time in its title: rename it.

\`duplicate(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document id |

- Needs: rw on document id
- Kind: creates
- Endpoints: filetree/duplicateDoc, filetree/getHPathByID, block/getBlockInfo

### Result

- \`success\`: true
- \`sourceID\`: the document that was copied
- \`id\`: document id
- \`notebook\`: notebook id
- \`path\`: storage path
- \`hPath\`: human path

### Example

MCP:

\`\`\`json
{"action":"duplicate","id":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie document duplicate 20240101120000-abcdefg
\`\`\`

## document(action="heading_to_doc")

Make a heading and what is under it a document of its own.

The new document has the heading's id, so references to it go on working. In another notebook it needs rwd where the heading is.

\`heading_to_doc(headingID, targetNotebook, targetPath=/, previousPath?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| headingID | string | required |  | block id of the heading |
| targetNotebook | string | required |  | notebook id |
| targetPath | string | optional | / | storage path of the parent, / for the top |
| previousPath | string | optional |  | storage path of the document to put it after |

- Needs: rwd on blocks that leave their notebook, rw on block headingID, rw on the parent of the new document, rw on the document before it
- Kind: changes order or place; a person confirms it
- Endpoints: filetree/heading2Doc, filetree/renameDocByID, block/getBlockDOM, filetree/getHPathByID, block/getBlockInfo, query/sql

### Result

- \`success\`: true
- \`id\`: document id
- \`notebook\`: notebook id
- \`path\`: storage path
- \`hPath\`: human path
- \`sourceID\`: the document that the heading was in

### Example

MCP:

\`\`\`json
{"action":"heading_to_doc","headingID":"20240101120000-abcdefg","targetNotebook":"20240101120000-hijklmn"}
\`\`\`

Terminal:

\`\`\`sh
collie document heading-to-doc --heading-id 20240101120000-abcdefg --target-notebook 20240101120000-hijklmn
\`\`\`

## document(action="doc_to_heading")

Put a document as a heading into another document.

The document goes away, so rwd is needed where it is. It must have no documents below it. targetID is a block inside the other document, never the document itself.

\`doc_to_heading(srcID, targetID, after=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| srcID | string | required |  | document that becomes a heading |
| targetID | string | required |  | block of another document to put it beside |
| after | boolean | optional | false | after the block, not before it |

- Needs: rwd on document srcID, rw on block targetID
- Kind: changes order or place; a person confirms it
- Endpoints: filetree/doc2Heading, filetree/listDocsByPath, block/getBlockInfo

### Result

- \`success\`: true
- \`id\`: block id of the heading, that of the document before
- \`rootID\`: the document it is in now
- \`srcTreeBox\`: notebook that the document was in
- \`srcTreePath\`: storage path that it had

### Example

MCP:

\`\`\`json
{"action":"doc_to_heading","srcID":"20240101120000-abcdefg","targetID":"20240101120000-hijklmn","after":true}
\`\`\`

Terminal:

\`\`\`sh
collie document doc-to-heading --src-id 20240101120000-abcdefg --target-id 20240101120000-hijklmn --after
\`\`\`
`,"../../../docs/reference/siyuan/file.md":`# file

Assets (images, attachments), templates, exports. Paths are assets/NAME; local files only in allowed folders.

- [upload_asset](#fileactionupload_asset): Store a local file as an asset
- [list_templates](#fileactionlist_templates): List templates, or those whose path contains a text
- [read_template](#fileactionread_template): Read the source of a template
- [render](#fileactionrender): Render a template for a document, or a sprig text
- [export_md](#fileactionexport_md): Export a document as standard Markdown
- [export_resources](#fileactionexport_resources): Pack assets, emojis or templates into a zip
- [list_unused_assets](#fileactionlist_unused_assets): List assets that no document uses
- [get_doc_assets](#fileactionget_doc_assets): List the assets that a document uses
- [get_image_ocr_text](#fileactionget_image_ocr_text): Read the text that SiYuan recognised in an image
- [remove_unused_assets](#fileactionremove_unused_assets): Delete all assets that no document uses
- [rename_asset](#fileactionrename_asset): Rename an asset, in all documents that use it as well
- [delete_asset](#fileactiondelete_asset): Delete an asset that no document uses
- [extract_doc](#fileactionextract_doc): Write a document and its assets to a local folder

## file(action="upload_asset")

Store a local file as an asset.

The stored name gets an id; the same file is not stored twice, whatever the folder. Show it with \`![text](PATH)\`. A relative localFilePath is below the first allowed folder; hidden files and keys are refused.

\`upload_asset(localFilePath, assetsDirPath=/assets/, confirmLargeFile=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| localFilePath | string | required |  | file on the machine of this server (also path) |
| assetsDirPath | string | optional | /assets/ | folder below /assets/ |
| confirmLargeFile | boolean | optional | false | upload it although it is large |

- Needs: a file in a folder that a person allowed
- Kind: takes in a local file; a person confirms it
- Endpoints: asset/upload

### Result

- \`success\`: true; false where requiresConfirmation is set
- \`errFiles\`: files that failed (with verbose:true)
- \`succMap\`: uploaded name to asset path (with verbose:true)
- \`path\`: asset path for Markdown
- \`localFilePath\`: the local file
- \`uploadedFileName\`: its name as sent, without an id
- \`requiresConfirmation\`: the file is large: call again with confirmLargeFile=true
- \`reason\`: file_too_large
- \`fileSizeBytes\`: size of the file
- \`thresholdBytes\`: size from which it is asked for
- \`thresholdMB\`: the same in MB
- \`message\`: what to do

### Example

MCP:

\`\`\`json
{"action":"upload_asset","localFilePath":"pictures/plan.png"}
\`\`\`

Terminal:

\`\`\`sh
collie file upload-asset pictures/plan.png
\`\`\`

## file(action="list_templates")

List templates, or those whose path contains a text.

\`list_templates(query?, page=1, pageSize=20)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| query | string | optional |  | part of the path (also k, keyword) |
| page | integer | optional | 1 | page, from 1 |
| pageSize | integer | optional | 20 | templates a page |

- Needs: no level: templates belong to the workspace, not to a notebook
- Kind: reads
- Endpoints: search/searchTemplate

### Result

- \`data\`: what is on this page
- \`data[].path\`: path on the kernel's machine (with verbose:true)
- \`data[].relativePath\`: path for read_template and render
- \`data[].name\`: file name without ending
- \`data[].content\`: path as SiYuan shows it, hits marked (with verbose:true)
- \`data[].readArgs\`: arguments to read it (with verbose:true)
- \`data[].renderArgsTemplate\`: arguments to render it, without the id (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page

### Example

MCP:

\`\`\`json
{"action":"list_templates","query":"meeting"}
\`\`\`

Terminal:

\`\`\`sh
collie file list-templates meeting
\`\`\`

## file(action="read_template")

Read the source of a template.

Actions in it are written .action{…}; render shows what becomes of them.

\`read_template(path, offset=0, limit=8000)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | path as list_templates gives it |
| offset | integer | optional | 0 | character to begin with |
| limit | integer | optional | 8000 | characters to return |

- Needs: no level: templates belong to the workspace, not to a notebook
- Kind: reads
- Endpoints: search/searchTemplate, file/readDir, file/getFile

### Result

- \`path\`: path on the kernel's machine (with verbose:true)
- \`relativePath\`: path below data/templates
- \`markdown\`: the source, or the part asked for
- \`totalChars\`: characters in all
- \`offset\`: where the part begins
- \`limit\`: the most that was asked for (with verbose:true)
- \`truncated\`: whether there is more
- \`nextOffset\`: where to go on

### Example

MCP:

\`\`\`json
{"action":"read_template","path":"work/meeting.md"}
\`\`\`

Terminal:

\`\`\`sh
collie file read-template work/meeting.md
\`\`\`

## file(action="render")

Render a template for a document, or a sprig text.

engine=template takes id and path and gives block DOM; engine=sprig takes template and gives text. Anyone may use functions of texts, numbers and dates; others, such as queryBlocks, can read all notes and need every notebook to be readable.

\`render(engine, id?, path?, template?, preview=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| engine | string | required |  | template: a file for a document; sprig: a text: template, sprig |
| id | string | optional |  | document the template is for |
| path | string | optional |  | template, as list_templates gives it |
| template | string | optional |  | text with {{ }} for sprig |
| preview | boolean | optional | false | as a preview, not for insertion |

- Needs: r on block id, r on every notebook, where the template does more than texts, numbers and dates
- Kind: reads
- Endpoints: search/searchTemplate, file/readDir, file/getFile, template/render, template/renderSprig, query/sql

### Result

- \`engine\`: the engine
- \`content\`: what was rendered
- \`path\`: the template (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"render","engine":"sprig","template":"{{now | date \\"2006-01-02\\"}}"}
\`\`\`

Terminal:

\`\`\`sh
collie file render --engine sprig --template '{{now | date "2006-01-02"}}'
\`\`\`

## file(action="export_md")

Export a document as standard Markdown.

The whole document of the block, with front matter. Where a notebook is hidden, references become links.

\`export_md(id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document, or a block in it |

- Needs: r on document id
- Kind: reads
- Endpoints: export/exportMdContent, query/sql, notebook/lsNotebooks, block/getBlockKramdown

### Result

- \`hPath\`: human path in its notebook
- \`content\`: the Markdown

### Example

MCP:

\`\`\`json
{"action":"export_md","id":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie file export-md 20240101120000-abcdefg
\`\`\`

## file(action="export_resources")

Pack assets, emojis or templates into a zip.

Only these can be packed, never documents or settings. The archive lies in the workspace; with outputPath it is also written to this machine, where no file may be yet.

\`export_resources(paths, name?, outputPath?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| paths | string[] | required |  | /data/assets/…, /data/ID/assets, emojis, templates |
| name | string | optional |  | name of the archive |
| outputPath | string | optional |  | local file to write the zip to |

- Needs: r on the notebooks of paths, a place in a folder that a person allowed
- Kind: has an effect outside the notes; a person confirms it with outputPath
- Endpoints: file/readDir, query/sql, asset/getUnusedAssets, notebook/lsNotebooks, export/exportResources, file/getFile

### Result

- \`path\`: the archive in the workspace
- \`outputPath\`: the local file
- \`bytes\`: its size

### Example

MCP:

\`\`\`json
{"action":"export_resources","paths":["/data/assets/plan-20240101120000-abcdefg.png"],"name":"plans"}
\`\`\`

Terminal:

\`\`\`sh
collie file export-resources '["/data/assets/plan-20240101120000-abcdefg.png"]' --name plans
\`\`\`

## file(action="list_unused_assets")

List assets that no document uses.

At most 512. Assets in the folders of notebooks that may not be read are left out; and where a notebook is closed, those whose names have a space or a letter that may be escaped.

\`list_unused_assets()\`

No arguments.

- Needs: no level: an asset that nothing uses belongs to no notebook; those in folders of hidden ones are left out
- Kind: reads
- Endpoints: asset/getUnusedAssets, query/sql, notebook/lsNotebooks, file/readDir, file/getFile

### Result

- \`assets\`: asset paths
- \`count\`: how many
- \`capped\`: there may be more: the kernel names at most 512

### Example

MCP:

\`\`\`json
{"action":"list_unused_assets"}
\`\`\`

Terminal:

\`\`\`sh
collie file list-unused-assets
\`\`\`

## file(action="get_doc_assets")

List the assets that a document uses.

\`get_doc_assets(id, assetType=all)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document, or a block in it |
| assetType | string | optional | all | all, or images only: all, image |

- Needs: r on document id
- Kind: reads
- Endpoints: asset/getDocAssets, asset/getDocImageAssets

### Result

- \`id\`: the document
- \`assetType\`: what was asked for
- \`assets\`: paths as the document writes them
- \`count\`: how many

### Example

MCP:

\`\`\`json
{"action":"get_doc_assets","id":"20240101120000-abcdefg","assetType":"image"}
\`\`\`

Terminal:

\`\`\`sh
collie file get-doc-assets 20240101120000-abcdefg --asset-type image
\`\`\`

## file(action="get_image_ocr_text")

Read the text that SiYuan recognised in an image.

Empty where nothing was recognised, or no text recognition is installed.

\`get_image_ocr_text(path)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | asset path of the image |

- Needs: r on every notebook that uses path
- Kind: reads
- Endpoints: file/readDir, query/sql, asset/getUnusedAssets, notebook/lsNotebooks, asset/getImageOCRText

### Result

- \`path\`: the image
- \`text\`: the text in it

### Example

MCP:

\`\`\`json
{"action":"get_image_ocr_text","path":"assets/plan-20240101120000-abcdefg.png"}
\`\`\`

Terminal:

\`\`\`sh
collie file get-image-ocr-text assets/plan-20240101120000-abcdefg.png
\`\`\`

## file(action="remove_unused_assets")

Delete all assets that no document uses.

Needs rwd in every notebook. list_unused_assets shows what would go.

\`remove_unused_assets()\`

No arguments.

- Needs: rwd on every notebook, the files that nothing uses
- Kind: changes in many places; a person confirms it
- Endpoints: asset/getUnusedAssets, query/sql, file/readDir, file/getFile, asset/removeUnusedAsset, notebook/lsNotebooks

### Result

- \`success\`: true
- \`removed\`: paths that are gone
- \`count\`: how many
- \`kept\`: paths SiYuan calls unused, and a document uses or may use

### Example

MCP:

\`\`\`json
{"action":"remove_unused_assets"}
\`\`\`

Terminal:

\`\`\`sh
collie file remove-unused-assets
\`\`\`

## file(action="rename_asset")

Rename an asset, in all documents that use it as well.

The ending stays and the name gets a new id. Needs rw in every notebook that uses it.

\`rename_asset(oldPath, newName)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| oldPath | string | required |  | asset path (also path) |
| newName | string | required |  | new name, without folder and id (also name) |

- Needs: rw on every notebook that uses oldPath
- Kind: changes or removes; a person confirms it
- Endpoints: file/readDir, file/getFile, query/sql, asset/getUnusedAssets, notebook/lsNotebooks, asset/resolveAssetPath, asset/renameAsset, block/getBlockDOMs, block/batchUpdateBlock

### Result

- \`success\`: true
- \`oldPath\`: path as it was
- \`newName\`: the name that was asked for
- \`newPath\`: path as it is
- \`staleBlocks\`: blocks that still write the old path
- \`warning\`: what is left to do

### Example

MCP:

\`\`\`json
{"action":"rename_asset","oldPath":"assets/plan-20240101120000-abcdefg.png","newName":"计划 plan"}
\`\`\`

Terminal:

\`\`\`sh
collie file rename-asset assets/plan-20240101120000-abcdefg.png '计划 plan'
\`\`\`

## file(action="delete_asset")

Delete an asset that no document uses.

One that is in use needs force=true, and rwd in every notebook that uses it. Documents keep the broken link.

\`delete_asset(path, force=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | asset path |
| force | boolean | optional | false | delete it although it is used |

- Needs: rwd on every notebook that uses path
- Kind: changes or removes; a person confirms it
- Endpoints: file/readDir, file/getFile, query/sql, asset/getUnusedAssets, notebook/lsNotebooks, asset/removeUnusedAsset

### Result

- \`success\`: true
- \`path\`: the asset that is gone

### Example

MCP:

\`\`\`json
{"action":"delete_asset","path":"assets/plan-20240101120000-abcdefg.png"}
\`\`\`

Terminal:

\`\`\`sh
collie file delete-asset assets/plan-20240101120000-abcdefg.png
\`\`\`

## file(action="extract_doc")

Write a document and its assets to a local folder.

Makes a folder TITLE-ID in outputDir. One that is there is only written again if it was made this way, and then only the files in it that were; nothing else is ever removed.

\`extract_doc(id, outputDir?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | document, or a block in it |
| outputDir | string | optional |  | local folder; siyuan-extracted in the first allowed one (also outputPath) |

- Needs: r on document id, a place in a folder that a person allowed
- Kind: has an effect outside the notes; a person confirms it
- Endpoints: export/exportMdContent, query/sql, notebook/lsNotebooks, file/readDir, file/getFile, block/getBlockKramdown

### Result

- \`outputRoot\`: the local folder
- \`defaultOutputDirUsed\`: whether it was chosen here (with verbose:true)
- \`extractedDir\`: folder of the document
- \`docMdFile\`: the Markdown file
- \`extractedAssetCount\`: assets written
- \`skippedAssetCount\`: assets left out
- \`skippedAssets\`: which, and why
- \`structure\`: files written, below extractedDir
- \`hint\`: how to read them (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"extract_doc","id":"20240101120000-abcdefg","outputDir":"notes"}
\`\`\`

Terminal:

\`\`\`sh
collie file extract-doc 20240101120000-abcdefg notes
\`\`\`
`,"../../../docs/reference/siyuan/flashcard.md":`# flashcard

Spaced repetition: list due cards (front, back), rate or skip them, make cards of blocks.

- [list_cards](#flashcardactionlist_cards): List cards that are due, with front and back
- [get_decks](#flashcardactionget_decks): List the decks
- [get_cards](#flashcardactionget_cards): List the cards of a deck, due or not
- [review_card](#flashcardactionreview_card): Rate a card, or skip it
- [create_card](#flashcardactioncreate_card): Make cards of blocks
- [remove_card](#flashcardactionremove_card): Make cards plain blocks again; their learning history goes

## flashcard(action="list_cards")

List cards that are due, with front and back.

Ask the front, wait for an answer, then show the back and rate with review_card. Rated cards are not listed again before they are due; pass those that were skipped as reviewedCards.

\`list_cards(scope, filter=due, deckID?, notebook?, rootID?, reviewedCards?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| scope | string | required |  | where: all, deck, notebook, tree |
| filter | string | optional | due | which: due, new, old |
| deckID | string | optional |  | for scope deck |
| notebook | string | optional |  | for scope notebook |
| rootID | string | optional |  | document, for scope tree |
| reviewedCards | object[] | optional |  | cards to leave out |

- Needs: r on notebook notebook, r on document rootID
- Kind: reads
- Endpoints: riff/getRiffDueCards, riff/getNotebookRiffDueCards, riff/getTreeRiffDueCards, riff/getRiffDecks, riff/getRiffCards, system/currentTime, query/sql, block/getChildBlocks, sqlite/flushTransaction, block/getBlockInfo

### Result

- \`scope\`: where
- \`filter\`: which
- \`cards\`: at most 20 of them
- \`cards[].deckID\`: its deck
- \`cards[].cardID\`: for review_card
- \`cards[].blockID\`: its block
- \`cards[].lastReview\`: milliseconds (with verbose:true)
- \`cards[].nextDues\`: when it comes back, by rating (with verbose:true)
- \`cards[].front\`: what is asked
- \`cards[].back\`: the answer
- \`cards[].review\`: kind, prompt, referenceAnswer, gradable
- \`showing\`: cards listed
- \`total\`: cards that match
- \`truncated\`: whether there are more
- \`unreviewedCount\`: due
- \`unreviewedNewCardCount\`: of those, new
- \`unreviewedOldCardCount\`: of those, seen before

### Example

MCP:

\`\`\`json
{"action":"list_cards","scope":"all"}
\`\`\`

Terminal:

\`\`\`sh
collie flashcard list-cards --scope all
\`\`\`

## flashcard(action="get_decks")

List the decks.

The size of a deck is told only where every notebook may be read.

\`get_decks()\`

No arguments.

- Needs: no level: decks are names; their sizes are hidden where a notebook is
- Kind: reads
- Endpoints: riff/getRiffDecks, riff/getRiffCards, notebook/lsNotebooks, sqlite/flushTransaction

### Result

- \`decks\`: all decks, the built-in one first
- \`decks[].id\`: deckID
- \`decks[].name\`: its name
- \`decks[].size\`: cards; left out where some may not be read
- \`decks[].created\`: local time (with verbose:true)
- \`decks[].updated\`: local time (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"get_decks"}
\`\`\`

Terminal:

\`\`\`sh
collie flashcard get-decks
\`\`\`

## flashcard(action="get_cards")

List the cards of a deck, due or not.

\`get_cards(deckID, page=1, pageSize=32)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| deckID | string | required |  | deck; empty is all |
| page | integer | optional | 1 | from 1 |
| pageSize | integer | optional | 32 | cards a page |

- Needs: no level: cards are shown as far as their blocks may be read
- Kind: reads
- Endpoints: riff/getRiffDecks, riff/getRiffCards, sqlite/flushTransaction, query/sql

### Result

- \`deckID\`: the deck
- \`data\`: what is on this page
- \`data[].cardID\`: the card
- \`data[].blockID\`: its block
- \`data[].content\`: text of the block
- \`data[].state\`: 0 new, 1 learning, 2 review, 3 relearning
- \`data[].reps\`: reviews (with verbose:true)
- \`data[].lapses\`: times forgotten (with verbose:true)
- \`data[].due\`: when it is due
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page

### Example

MCP:

\`\`\`json
{"action":"get_cards","deckID":"20230218211946-2kw8jgx"}
\`\`\`

Terminal:

\`\`\`sh
collie flashcard get-cards --deck-id 20230218211946-2kw8jgx
\`\`\`

## flashcard(action="review_card")

Rate a card, or skip it.

Rate what the person answered, never for them. Give rating or skip. A skipped card stays due: give it to list_cards in reviewedCards.

\`review_card(deckID, cardID, rating?, skip?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| deckID | string | required |  | deck |
| cardID | string | required |  | card |
| rating | integer | optional |  | 1 again, 2 hard, 3 good, 4 easy |
| skip | boolean | optional |  | leave it out of this round instead |

- Needs: r on the block of cardID
- Kind: changes or removes
- Endpoints: riff/getRiffDueCards, riff/getRiffCards, riff/reviewRiffCard, riff/skipReviewRiffCard, block/getBlockInfo

### Result

- \`success\`: true
- \`deckID\`: its deck
- \`cardID\`: the card
- \`rating\`: as given
- \`skipped\`: whether it was skipped

### Example

MCP:

\`\`\`json
{"action":"review_card","deckID":"20230218211946-2kw8jgx","cardID":"20260102030405-abcdefg","rating":3}
\`\`\`

Terminal:

\`\`\`sh
collie flashcard review-card --deck-id 20230218211946-2kw8jgx --card-id 20260102030405-abcdefg --rating 3
\`\`\`

## flashcard(action="create_card")

Make cards of blocks.

Good cards: a paragraph with ==marks==, a heading with its section, a list item with its answer below. Not a document.

\`create_card(blockIDs, deckID=20230218211946-2kw8jgx)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| deckID | string | optional | 20230218211946-2kw8jgx | deck from get_decks; the built-in one if left out |
| blockIDs | string[] | required |  | blocks (also blockID, id) |

- Needs: rw on block blockIDs
- Kind: creates
- Endpoints: riff/getRiffDecks, riff/addRiffCards, attr/batchGetBlockAttrs

### Result

- \`success\`: true
- \`deckID\`: the deck
- \`deck\`: its name
- \`blockIDs\`: the blocks

### Example

MCP:

\`\`\`json
{"action":"create_card","deckID":"20230218211946-2kw8jgx","blockIDs":["20260102030405-abcdefg"]}
\`\`\`

Terminal:

\`\`\`sh
collie flashcard create-card --deck-id 20230218211946-2kw8jgx --block-i-ds 20260102030405-abcdefg
\`\`\`

## flashcard(action="remove_card")

Make cards plain blocks again; their learning history goes.

\`remove_card(blockIDs, deckID=20230218211946-2kw8jgx)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| deckID | string | optional | 20230218211946-2kw8jgx | deck from get_decks; the built-in one if left out |
| blockIDs | string[] | required |  | blocks (also blockID, id) |

- Needs: rw on block blockIDs
- Kind: changes or removes; a person confirms it
- Endpoints: riff/getRiffDecks, riff/removeRiffCards, attr/batchGetBlockAttrs

### Result

- \`success\`: true
- \`deckID\`: the deck
- \`deck\`: its name
- \`blockIDs\`: the blocks

### Example

MCP:

\`\`\`json
{"action":"remove_card","deckID":"20230218211946-2kw8jgx","blockIDs":["20260102030405-abcdefg"]}
\`\`\`

Terminal:

\`\`\`sh
collie flashcard remove-card --deck-id 20230218211946-2kw8jgx --block-i-ds 20260102030405-abcdefg
\`\`\`
`,"../../../docs/reference/siyuan/fs.md":`# fs

SiYuan notes by human path: /Notebook/Document/Child; / lists the notebooks. /AGENTS.md is your memory, /USER_RULES.md the user's rules.

- [ls](#fsactionls): List what is right below a path
- [tree](#fsactiontree): Show all documents below a path as a tree
- [read](#fsactionread): Read a document as Markdown
- [write](#fsactionwrite): Create a document, or overwrite its text
- [replace](#fsactionreplace): Replace exact texts in a document
- [rm](#fsactionrm): Remove a document and all below it
- [mv](#fsactionmv): Move or rename a document with all below it
- [reorder](#fsactionreorder): Set the order of the documents below a path
- [search](#fsactionsearch): Find lines in the Markdown of documents, like grep

## fs(action="ls")

List what is right below a path.

A / in a name is written %2F. Where two notebooks or documents have one name, add #id to it, as the error shows.

\`ls(path=/)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | optional | / | notebook or document; / for all notebooks |

- Needs: r on path path
- Kind: reads
- Endpoints: notebook/lsNotebooks, filetree/getPathByID, filetree/listDocsByPath

### Result

- \`path\`: the path that was listed
- \`items\`: what is there, in the order of the interface
- \`items[].name\`: title, or name of the notebook
- \`items[].path\`: path to go on with
- \`items[].children\`: how many documents are right below
- \`items[].virtual\`: a file of this tool that is not a document
- \`items[].closed\`: a closed notebook, which shows no documents

### Example

MCP:

\`\`\`json
{"action":"ls","path":"/Work notes"}
\`\`\`

Terminal:

\`\`\`sh
collie fs ls '/Work notes'
\`\`\`

## fs(action="tree")

Show all documents below a path as a tree.

What cannot be listed is in errors, and the rest is shown. A / in a name is written %2F. Where two notebooks or documents have one name, add #id to it, as the error shows.

\`tree(path=/, maxDepth=3)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | optional | / | notebook or document; / for all notebooks |
| maxDepth | integer | optional | 3 | levels below the first |

- Needs: r on path path
- Kind: reads
- Endpoints: notebook/lsNotebooks, filetree/getPathByID, filetree/listDocsByPath

### Result

- \`path\`: the path that was listed
- \`tree\`: nodes {name, path, children}; children is a number below maxDepth
- \`maxDepth\`: levels shown below the first
- \`partial\`: something is missing: see errors
- \`errors\`: what could not be listed: {path, message}
- \`topLevelDocumentCount\`: documents of the first level (with verbose:true)
- \`failedTopLevelDocumentCount\`: those of them that are incomplete (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"tree","path":"/Work notes","maxDepth":2}
\`\`\`

Terminal:

\`\`\`sh
collie fs tree '/Work notes' 2
\`\`\`

## fs(action="read")

Read a document as Markdown.

Long documents come in windows of whole blocks: go on with the arguments in nextWindow. outline shows all headings with the block to start at.

\`read(path, blockStart=0, blockLimit=50, tokenBudget=2000, includeBlockIds=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | document |
| blockStart | integer | optional | 0 | first block to read |
| blockLimit | integer | optional | 50 | blocks at most |
| tokenBudget | integer | optional | 2000 | tokens at most, estimated |
| includeBlockIds | boolean | optional | false | add the ids of the blocks |

- Needs: r on path path
- Kind: reads
- Endpoints: notebook/lsNotebooks, filetree/getIDsByHPath, block/getChildBlocks, block/getBlockKramdowns, block/getBlockKramdown, query/sql

### Result

- \`path\`: path of the document
- \`content\`: Markdown of whole blocks
- \`outline\`: headings: {blockIndex, level, title, id}
- \`blockStart\`: first block (with verbose:true)
- \`blockLimit\`: blocks at most (with verbose:true)
- \`returnedBlocks\`: blocks here (with verbose:true)
- \`totalBlocks\`: blocks of the document
- \`tokenBudget\`: tokens at most (with verbose:true)
- \`estimatedTokens\`: tokens here, estimated
- \`tokenMode\`: how they are estimated (with verbose:true)
- \`budgetExceeded\`: the first block alone is larger than the budget
- \`truncated\`: blocks follow
- \`hasNextWindow\`: the same (with verbose:true)
- \`nextWindow\`: arguments that read on
- \`nextWindowHint\`: the same in words (with verbose:true)
- \`blockRefs\`: {blockIndex, id, type} of each block, with includeBlockIds
- \`attributeViews\`: databases: {blockID, avID}
- \`warning\`: what the text does not show
- \`avToolHint\`: how to read the databases
- \`nonFidelityWarning\`: blocks are more than their text
- \`complexBlockTypes\`: their types
- \`recommendedReads\`: what shows them (with verbose:true)
- \`stateHash\`: for ifMatch, where the window is the whole document, or with verbose

### Example

MCP:

\`\`\`json
{"action":"read","path":"/Work notes/Plan"}
\`\`\`

Terminal:

\`\`\`sh
collie fs read '/Work notes/Plan'
\`\`\`

## fs(action="write")

Create a document, or overwrite its text.

References to blocks are ((id 'anchor')). Overwriting is refused where it would lose more than text: databases and embeds, names, bookmarks and other attributes of blocks, blocks that other documents refer to. Use replace there. /AGENTS.md takes your own notes on how to work here.

\`write(path, markdown, overwrite=false)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | document to create or overwrite; its parent exists |
| markdown | string | required |  | the whole new text |
| overwrite | boolean | optional | false | replace the text of a document that exists |

- Needs: rw on path path
- Kind: changes or removes
- Endpoints: filetree/createDocWithMd, filetree/getPathByID, filetree/getHPathByID, filetree/moveDocsByID, filetree/renameDocByID, block/getChildBlocks, attr/batchGetBlockAttrs, query/sql, sqlite/flushTransaction, block/getBlockKramdown, block/getBlockKramdowns, block/getBlockInfo, block/appendBlock, block/deleteBlock, transactions

### Result

- \`success\`: always true
- \`path\`: path of the document
- \`id\`: its id
- \`created\`: it is new
- \`overwritten\`: it was there
- \`warnings\`: what became of references

### Example

MCP:

\`\`\`json
{"action":"write","path":"/Work notes/Plan","markdown":"## Goals\\n\\n- one"}
\`\`\`

Terminal:

\`\`\`sh
collie fs write '/Work notes/Plan' '## Goals

- one'
\`\`\`

## fs(action="replace")

Replace exact texts in a document.

old is text as read shows it, unique in the document unless replace_all is true, and within one block: paragraphs are one block each, a whole list is one. Edits are made in order, all or none. Blocks keep their ids and attributes. An old text repeated in new with a paragraph behind it inserts that paragraph.

\`replace(path, edit)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | document |
| edit | any | required |  | {old, new, replace_all} or a list of them |

- Needs: rw on path path
- Kind: changes in many places
- Endpoints: block/getChildBlocks, block/getBlockKramdowns, block/getBlockKramdown, block/updateBlock, block/batchUpdateBlock, block/insertBlock, block/getBlockTreeInfos, attr/getBlockAttrs, attr/setBlockAttrs, query/sql, block/getBlockInfo, block/getBlockDOM

### Result

- \`success\`: always true
- \`path\`: path of the document
- \`changed\`: something is different now
- \`editsApplied\`: how many edits were made
- \`replacements\`: {index, replaced, replace_all} of each edit
- \`changedBlocks\`: ids of the blocks that were written (with verbose:true)
- \`createdBlockIDs\`: blocks that were inserted, where a text became several
- \`attributesPreserved\`: attributes were checked afterwards (with verbose:true)
- \`skippedComplexBlocks\`: blocks that are not text and were not searched
- \`warning\`: what that means
- \`recommendedTools\`: what handles them
- \`warnings\`: what became of references

### Example

MCP:

\`\`\`json
{"action":"replace","path":"/Work notes/Plan","edit":{"old":"draft","new":"final"}}
\`\`\`

Terminal:

\`\`\`sh
collie fs replace '/Work notes/Plan' --old draft --new final
\`\`\`

## fs(action="rm")

Remove a document and all below it.

A copy stays in SiYuan's history. /AGENTS.md is emptied.

\`rm(path)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | document; those below it go with it |

- Needs: rwd on path path
- Kind: changes or removes; a person confirms it
- Endpoints: filetree/removeDocByID

### Result

- \`success\`: always true
- \`path\`: what is gone
- \`id\`: its id

### Example

MCP:

\`\`\`json
{"action":"rm","path":"/Work notes/Old plan"}
\`\`\`

Terminal:

\`\`\`sh
collie fs rm '/Work notes/Old plan'
\`\`\`

## fs(action="mv")

Move or rename a document with all below it.

to is the whole new path; what is above it must exist, and nothing may be at it. Into another notebook it needs rwd where the document comes from.

\`mv(from, to)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| from | string | required |  | document |
| to | string | required |  | its new path, or a notebook to put it into |

- Needs: rwd on documents that leave their notebook, rw on path from, rw on path to
- Kind: changes order or place; a person confirms it
- Endpoints: filetree/getPathByID, filetree/moveDocsByID, filetree/upsertIndexes, filetree/renameDocByID, filetree/getHPathByID

### Result

- \`success\`: true unless partial
- \`path\`: where it was
- \`movedTo\`: where it is now
- \`id\`: its id, the same as before
- \`partial\`: it was moved and kept its old title
- \`warning\`: why

### Example

MCP:

\`\`\`json
{"action":"mv","from":"/Work notes/Plan","to":"/Archive/Plan 2025"}
\`\`\`

Terminal:

\`\`\`sh
collie fs mv '/Work notes/Plan' '/Archive/Plan 2025'
\`\`\`

## fs(action="reorder")

Set the order of the documents below a path.

A kernel before 3.8.1 can only show all of a notebook in its custom order: sortModeScope says so.

\`reorder(path, orderedPaths)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | required |  | notebook or document whose children are ordered |
| orderedPaths | string[] | required |  | every child exactly once, in the new order |

- Needs: rw on path path
- Kind: changes order or place
- Endpoints: filetree/getPathByID, filetree/listDocsByPath, filetree/changeSort, attr/getBlockAttrs, notebook/getNotebookConf, filetree/setDocSortMode, notebook/setNotebookConf

### Result

- \`success\`: always true
- \`path\`: the parent
- \`parentID\`: its id (with verbose:true)
- \`notebook\`: id of its notebook (with verbose:true)
- \`changed\`: something is different now
- \`orderChanged\`: the custom order is another
- \`sortModeChanged\`: the custom order is shown only from now on
- \`sortModeScope\`: what is shown in its custom order: document or notebook
- \`previousOrder\`: paths as they were (with verbose:true)
- \`order\`: paths as they are

### Example

MCP:

\`\`\`json
{"action":"reorder","path":"/Work notes","orderedPaths":["/Work notes/B","/Work notes/A"]}
\`\`\`

Terminal:

\`\`\`sh
collie fs reorder '/Work notes' --ordered-paths '/Work notes/B' --ordered-paths '/Work notes/A'
\`\`\`

## fs(action="search")

Find lines in the Markdown of documents, like grep.

Patterns are Go's RE2: no look-around and no back-references. Lines are those of the whole text as read shows it, from 1. One call reads 500 documents at most: partial and remainingDocs say if there are more; give a narrower path then.

\`search(query, path=/, regex=false, caseSensitive=false, page=1, pageSize=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| path | string | optional | / | notebook or document, with all below it; / for all |
| query | string | required |  | text, or a pattern with regex |
| regex | boolean | optional | false | query is a Go regular expression |
| caseSensitive | boolean | optional | false | upper and lower case differ |
| page | integer | optional | 1 | page, from 1 |
| pageSize | integer | optional | 50 | lines a page |

- Needs: r on path path
- Kind: reads
- Endpoints: notebook/lsNotebooks, filetree/getPathByID, query/sql, sqlite/flushTransaction, block/getBlockKramdown

### Result

- \`data\`: what is on this page
- \`data[].path\`: path of the document
- \`data[].line\`: number of the line, from 1
- \`data[].text\`: the line, 200 characters at most
- \`data[].textTruncated\`: it is longer
- \`data[].originalTextLength\`: how long
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`path\`: where was searched
- \`query\`: as given (with verbose:true)
- \`regex\`: as given (with verbose:true)
- \`caseSensitive\`: as given (with verbose:true)
- \`partial\`: not all documents were read
- \`scannedDocs\`: documents read
- \`remainingDocs\`: documents left out
- \`failedDocs\`: documents that could not be read
- \`hint\`: what to do about it

### Example

MCP:

\`\`\`json
{"action":"search","path":"/Work notes","query":"budget"}
\`\`\`

Terminal:

\`\`\`sh
collie fs search '/Work notes' budget
\`\`\`
`,"../../../docs/reference/siyuan/mascot.md":`# mascot

A puppy: each successful call of another tool earns it a coin. buy takes an id that shop lists.

- [get_balance](#mascotactionget_balance): Show how many coins the mascot has
- [shop](#mascotactionshop): Show what can be bought for the mascot
- [buy](#mascotactionbuy): Buy something for the mascot with its coins

## mascot(action="get_balance")

Show how many coins the mascot has.

\`get_balance()\`

No arguments.

- Needs: no level: it touches no notes
- Kind: reads

### Result

- \`balance\`: coins now
- \`totalEarned\`: coins ever
- \`callsToday\`: calls since midnight, failed ones too
- \`lastAction\`: the last call, as TOOL/ACTION
- \`bought\`: what was ever bought
- \`bought[].id\`: id from shop
- \`bought[].count\`: how many

### Example

MCP:

\`\`\`json
{"action":"get_balance"}
\`\`\`

Terminal:

\`\`\`sh
collie mascot get-balance
\`\`\`

## mascot(action="shop")

Show what can be bought for the mascot.

\`shop()\`

No arguments.

- Needs: no level: it touches no notes
- Kind: reads

### Result

- \`balance\`: coins now
- \`totalEarned\`: coins ever
- \`items\`: what there is
- \`items[].id\`: for buy
- \`items[].cost\`: in coins

### Example

MCP:

\`\`\`json
{"action":"shop"}
\`\`\`

Terminal:

\`\`\`sh
collie mascot shop
\`\`\`

## mascot(action="buy")

Buy something for the mascot with its coins.

\`buy(item_id)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| item_id | string | required |  | id from shop (also id, item) |

- Needs: no level: it touches no notes
- Kind: has an effect outside the notes

### Result

- \`success\`: true
- \`item_id\`: what was bought
- \`item\`: its name
- \`type\`: food, drink or snack
- \`emoji\`: its picture
- \`cost\`: coins spent
- \`balance\`: coins left
- \`totalEarned\`: coins ever

### Example

MCP:

\`\`\`json
{"action":"buy","item_id":"milk"}
\`\`\`

Terminal:

\`\`\`sh
collie mascot buy --item-id milk
\`\`\`
`,"../../../docs/reference/siyuan/notebook.md":`# notebook

Notebooks. list gives their ids and what may be done in each: permission r, rw or rwd.

- [list](#notebookactionlist): List the notebooks
- [create](#notebookactioncreate): Create a notebook
- [set_open_state](#notebookactionset_open_state): Open or close a notebook
- [remove](#notebookactionremove): Delete a notebook with all its documents
- [rename](#notebookactionrename): Rename a notebook
- [get_conf](#notebookactionget_conf): Read the settings of a notebook
- [set_conf](#notebookactionset_conf): Change settings of a notebook
- [set_icon](#notebookactionset_icon): Set the icon of a notebook
- [get_permissions](#notebookactionget_permissions): Show what may be done in each notebook
- [set_permission](#notebookactionset_permission): Set what may be done in a notebook
- [get_child_docs](#notebookactionget_child_docs): List the documents at the top of a notebook

## notebook(action="list")

List the notebooks.

Closed notebooks are listed too; open one with set_open_state before you read it.

\`list()\`

No arguments.

- Needs: no level: lists only notebooks that may be read
- Kind: reads
- Endpoints: notebook/lsNotebooks

### Result

- \`[].id\`: notebook id
- \`[].name\`: its name; names may repeat
- \`[].icon\`: code points of an emoji (with verbose:true)
- \`[].sort\`: its place in the list (with verbose:true)
- \`[].sortMode\`: order of its documents, 15 is that of the workspace (with verbose:true)
- \`[].closed\`: whether it is closed
- \`[].newFlashcardCount\`: new cards (with verbose:true)
- \`[].dueFlashcardCount\`: cards that are due (with verbose:true)
- \`[].flashcardCount\`: cards (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"list"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook list
\`\`\`

## notebook(action="create")

Create a notebook.

Names may repeat, so list first. The new notebook gets the level that the settings say for new ones, on a real kernel r: the result says which, and how a person raises it.

\`create(name, icon?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| name | string | required |  | name of the notebook |
| icon | string | optional |  | emoji, or its code points such as 1f4d4 |

- Needs: no level: there is no notebook yet; the new one gets the level for new notebooks
- Kind: creates
- Endpoints: notebook/createNotebook, notebook/setNotebookIcon

### Result

- \`id\`: notebook id
- \`name\`: its name; names may repeat
- \`icon\`: code points of an emoji (with verbose:true)
- \`sort\`: its place in the list (with verbose:true)
- \`sortMode\`: order of its documents, 15 is that of the workspace (with verbose:true)
- \`closed\`: whether it is closed
- \`newFlashcardCount\`: new cards (with verbose:true)
- \`dueFlashcardCount\`: cards that are due (with verbose:true)
- \`flashcardCount\`: cards (with verbose:true)
- \`permission\`: level of the new notebook: none, r, rw or rwd
- \`permissionHint\`: how to raise it, where it does not allow to write
- \`iconHint\`: how to give it an icon, where it has none (with verbose:true)
- \`warnings\`: what did not work although the notebook is there

### Example

MCP:

\`\`\`json
{"action":"create","name":"Reading","icon":"1f4d4"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook create Reading --icon 1f4d4
\`\`\`

## notebook(action="set_open_state")

Open or close a notebook.

Nothing in a closed notebook can be read or found. The call waits until SiYuan has changed its index, 10 seconds at most.

\`set_open_state(notebook, opened)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| opened | boolean | required |  | true opens, false closes |

- Needs: rw on notebook notebook
- Kind: changes or removes
- Endpoints: notebook/openNotebook, notebook/closeNotebook, notebook/lsNotebooks, sqlite/flushTransaction, system/bootProgress, filetree/listDocsByPath, block/getBlockTreeInfos

### Result

- \`success\`: true
- \`notebook\`: notebook id
- \`opened\`: whether it is open now
- \`changed\`: whether it was not before
- \`indexing\`: true where SiYuan has not yet changed its index: what is not found may be there

### Example

MCP:

\`\`\`json
{"action":"set_open_state","notebook":"20240101120000-abcdefg","opened":true}
\`\`\`

Terminal:

\`\`\`sh
collie notebook set-open-state 20240101120000-abcdefg true
\`\`\`

## notebook(action="remove")

Delete a notebook with all its documents.

SiYuan keeps a copy in its history.

\`remove(notebook)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |

- Needs: rwd on notebook notebook
- Kind: changes or removes; a person confirms it; off by default
- Endpoints: notebook/removeNotebook, notebook/lsNotebooks, sqlite/flushTransaction, system/bootProgress

### Result

- \`success\`: true
- \`notebook\`: id that the notebook had
- \`name\`: its name

### Example

MCP:

\`\`\`json
{"action":"remove","notebook":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook remove --notebook 20240101120000-abcdefg
\`\`\`

## notebook(action="rename")

Rename a notebook.

The notebook must be open. SiYuan drops "/" from names; the result has the name it took.

\`rename(notebook, name)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| name | string | required |  | new name |

- Needs: rw on notebook notebook
- Kind: changes or removes
- Endpoints: notebook/renameNotebook, notebook/lsNotebooks

### Result

- \`success\`: true
- \`notebook\`: notebook id
- \`name\`: the name it has now

### Example

MCP:

\`\`\`json
{"action":"rename","notebook":"20240101120000-abcdefg","name":"Archive 2025"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook rename 20240101120000-abcdefg 'Archive 2025'
\`\`\`

## notebook(action="get_conf")

Read the settings of a notebook.

Among them where daily notes and new documents are put.

\`get_conf(notebook)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |

- Needs: r on notebook notebook
- Kind: reads
- Endpoints: notebook/getNotebookConf

### Result

- \`box\`: notebook id
- \`name\`: its name
- \`conf\`: its settings as SiYuan has them
- \`conf.closed\`: whether it is closed
- \`conf.dailyNoteSavePath\`: where daily notes go, a template
- \`conf.dailyNoteTemplatePath\`: template of daily notes
- \`conf.docCreateSavePath\`: where new documents go
- \`conf.refCreateSavePath\`: where documents made from a reference go
- \`conf.sortMode\`: order of its documents, 15 is that of the workspace

### Example

MCP:

\`\`\`json
{"action":"get_conf","notebook":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook get-conf 20240101120000-abcdefg
\`\`\`

## notebook(action="set_conf")

Change settings of a notebook.

Only the settings that are given change. One that this version of SiYuan lacks is refused. Paths may have actions in {{ }} with functions of texts, numbers and dates; others, such as queryBlocks, can read all notes and need every notebook to be readable. dailyNoteTemplatePath is a template below data/templates, by the same rule.

\`set_conf(notebook, conf)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| conf | object | required |  | what to change; the rest stays |

- Needs: rw on notebook notebook, r on every notebook, where a path or template does more than texts, numbers and dates
- Kind: changes or removes
- Endpoints: search/searchTemplate, file/readDir, file/getFile, notebook/getNotebookConf, notebook/setNotebookConf, notebook/openNotebook, notebook/closeNotebook, notebook/lsNotebooks, sqlite/flushTransaction, system/bootProgress, filetree/listDocsByPath, block/getBlockTreeInfos

### Result

- \`name\`: name of the notebook
- \`closed\`: whether it is closed
- \`indexing\`: as of set_open_state
- \`dailyNoteSavePath\`: where daily notes go
- \`dailyNoteTemplatePath\`: template of daily notes
- \`docCreateSavePath\`: where new documents go
- \`refCreateSavePath\`: where documents made from a reference go
- \`sort\`: its place in the list (with verbose:true)
- \`sortMode\`: order of its documents (with verbose:true)
- \`icon\`: its icon (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"set_conf","notebook":"20240101120000-abcdefg","conf":{"dailyNoteSavePath":"/journal/{{now | date \\"2006-01-02\\"}}"}}
\`\`\`

Terminal:

\`\`\`sh
collie notebook set-conf --notebook 20240101120000-abcdefg --daily-note-save-path '/journal/{{now | date "2006-01-02"}}'
\`\`\`

## notebook(action="set_icon")

Set the icon of a notebook.

An emoji is stored as its code points; a picture of the workspace's emojis folder is named by its path there.

\`set_icon(notebook, icon)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| icon | string | required |  | emoji, or its code points such as 1f4d4; empty takes it away |

- Needs: rw on notebook notebook
- Kind: changes or removes
- Endpoints: notebook/setNotebookIcon, notebook/lsNotebooks

### Result

- \`success\`: true
- \`notebook\`: notebook id
- \`icon\`: the icon as it is stored

### Example

MCP:

\`\`\`json
{"action":"set_icon","notebook":"20240101120000-abcdefg","icon":"1f4d4"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook set-icon 20240101120000-abcdefg 1f4d4
\`\`\`

## notebook(action="get_permissions")

Show what may be done in each notebook.

r reads, rw also writes, rwd also deletes. Only a person can change a level.

\`get_permissions(notebook=all)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | optional | all | notebook id, or all |

- Needs: r on notebook, unless all
- Kind: reads
- Endpoints: notebook/lsNotebooks, file/getFile

### Result

- \`notebooks\`: the notebooks that may be read, of all
- \`notebooks[].id\`: notebook id
- \`notebooks[].name\`: its name
- \`notebooks[].permission\`: r, rw or rwd
- \`notebook\`: the one that was asked for, in the same form

### Example

MCP:

\`\`\`json
{"action":"get_permissions","notebook":"all"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook get-permissions all
\`\`\`

## notebook(action="set_permission")

Set what may be done in a notebook.

For a person at a terminal only: nobody may raise their own rights. none hides the notebook, r reads, rw also writes, rwd also deletes.

\`set_permission(notebook, permission)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| permission | string | required |  | new level: none, r, rw, rwd |

- Needs: notebook notebook
- Kind: changes or removes; a person confirms it; only for a person at a terminal; off by default
- Endpoints: notebook/lsNotebooks, file/getFile, file/putFile

### Result

- \`success\`: true
- \`notebook\`: notebook id
- \`permission\`: the level now
- \`previous\`: the level before

### Example

MCP:

\`\`\`json
{"action":"set_permission","notebook":"20240101120000-abcdefg","permission":"rw"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook set-permission 20240101120000-abcdefg rw
\`\`\`

## notebook(action="get_child_docs")

List the documents at the top of a notebook.

Deeper ones: document(action="get_child_docs") or document(action="list_tree").

\`get_child_docs(notebook, page=1, pageSize=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| notebook | string | required |  | notebook id |
| page | integer | optional | 1 | page of the result |
| pageSize | integer | optional | 50 | documents a page |

- Needs: r on notebook notebook
- Kind: reads
- Endpoints: filetree/listDocsByPath, notebook/lsNotebooks

### Result

- \`data\`: what is on this page
- \`data[].id\`: document id
- \`data[].notebook\`: notebook id (with verbose:true)
- \`data[].path\`: storage path
- \`data[].hPath\`: human path in the notebook
- \`data[].name\`: title
- \`data[].icon\`: icon (with verbose:true)
- \`data[].subFileCount\`: documents right below it
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`notebook\`: notebook id

### Example

MCP:

\`\`\`json
{"action":"get_child_docs","notebook":"20240101120000-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie notebook get-child-docs 20240101120000-abcdefg
\`\`\`
`,"../../../docs/reference/siyuan/search.md":`# search

Find blocks, also by SQL, backlinks, assets; replace text.

- [fulltext](#searchactionfulltext): Find blocks by the words in them
- [query_sql](#searchactionquery_sql): Query the index of notes with a SELECT
- [get_backlinks](#searchactionget_backlinks): List the blocks that refer to a block or document, or mention it
- [search_refs](#searchactionsearch_refs): Find blocks to refer to from a block, as the editor does after ((
- [find_replace](#searchactionfind_replace): Replace a text in blocks, at once and without undo
- [search_assets](#searchactionsearch_assets): Find assets (images, files) by their names
- [fulltext_asset_content](#searchactionfulltext_asset_content): Find assets by the text in them: PDF, office files, text
- [list_invalid_refs](#searchactionlist_invalid_refs): List the blocks whose references lead nowhere

## search(action="fulltext")

Find blocks by the words in them.

Without types the kernel looks in its usual ones: no lists, list items, quotes and super blocks, since what is in them is found by itself. query_syntax is that of SQLite's full text search: apple NOT pie, app*, "two words". regex is RE2. sql is a SELECT with a column id, which says itself which types, where and in what order. A page whose size is not given shows 20 hits at most.

\`fulltext(query, method=keyword, types?, typeShortcodes?, paths?, groupBy=0, orderBy=type, page=1, pageSize=32, parentId?, hasTags?, stripHtml?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| query | string | required |  | words, all of which must be there; or what method says; an id finds its block |
| method | string | optional | keyword | how query is meant: keyword, query_syntax, sql, regex (also methodName) |
| types | object | optional |  | types of blocks: document, heading, paragraph, list, listItem, … |
| typeShortcodes | string[] | optional |  | types of blocks, by code: d, h, p, l, i, b, c, m, t, s, html, embed, av, video, audio, widget, iframe, callout |
| paths | string[] | optional |  | where: notebook ids, or \\<notebook>/\\<storage path>.sy |
| groupBy | integer | optional | 0 | 1: hits below their documents |
| orderBy | string | optional | type | order of hits: type, created_asc, created_desc, updated_asc, updated_desc, content_asc, content_desc, relevance (also sortBy) |
| page | integer | optional | 1 | page, from 1 |
| pageSize | integer | optional | 32 | hits a page |
| parentId | string | optional |  | only what is in this document or block (also parentID) |
| hasTags | boolean | optional |  | only blocks that have a tag |
| stripHtml | boolean | optional |  | no \\<mark> in content |

- Needs: r on block parentId
- Kind: reads
- Endpoints: search/fullTextSearchBlock, sqlite/flushTransaction, notebook/lsNotebooks, query/sql

### Result

- \`data\`: what is on this page
- \`data[].id\`: id of the block
- \`data[].type\`: NodeParagraph, NodeHeading, NodeDocument, …
- \`data[].subtype\`: h1 to h6 of a heading, u, o or t of a list
- \`data[].hPath\`: human path of its document in its notebook
- \`data[].fsPath\`: the same with the notebook, as fs takes it
- \`data[].plainContent\`: its text; of a long one what is around the matches
- \`data[].name\`: its name, alias, memo and tags, where it has them
- \`data[].children\`: of a document, where hits are grouped: those in it, in the same form
- \`data[].children[].box\`: its notebook (with verbose:true)
- \`data[].children[].rootID\`: its document (with verbose:true)
- \`data[].children[].parentID\`: the block above it (with verbose:true)
- \`data[].children[].path\`: storage path of its document (with verbose:true)
- \`data[].children[].excerpt\`: the first 200 characters (with verbose:true)
- \`data[].children[].content\`: its text as HTML with \\<mark> around matches (with verbose:true)
- \`data[].children[].markdown\`: its Markdown, 400 characters at most (with verbose:true)
- \`data[].children[].refText\`: what a reference to it would show (with verbose:true)
- \`data[].box\`: its notebook (with verbose:true)
- \`data[].rootID\`: its document (with verbose:true)
- \`data[].parentID\`: the block above it (with verbose:true)
- \`data[].path\`: storage path of its document (with verbose:true)
- \`data[].excerpt\`: the first 200 characters (with verbose:true)
- \`data[].content\`: its text as HTML with \\<mark> around matches (with verbose:true)
- \`data[].markdown\`: its Markdown, 400 characters at most (with verbose:true)
- \`data[].refText\`: what a reference to it would show (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`truncated\`: whether the page is shown in part
- \`showing\`: how many are shown (with verbose:true)
- \`hint\`: how to see more
- \`paginationMode\`: kernel, or post_filtered_window (with verbose:true)
- \`incomplete\`: there are too many hits to filter all of them
- \`matchedRootCount\`: documents with hits (with verbose:true)
- \`resolvedArgs\`: how the arguments were understood (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"fulltext","query":"travel plan","typeShortcodes":["h","p"],"pageSize":10}
\`\`\`

Terminal:

\`\`\`sh
collie search fulltext 'travel plan' --type-shortcodes h --type-shortcodes p --page-size 10
\`\`\`

## search(action="query_sql")

Query the index of notes with a SELECT.

Tables: blocks (id, parent_id, root_id, box, path, hpath, name, alias, memo, tag, content, markdown, type, subtype, ial, created, updated, …), attributes, refs, spans, assets, file_annotation_refs, blocks_fts, stat. box is the notebook, root_id the document; type is d h p l i t c m b s html av …; times are yyyyMMddHHmmss. Texts stand in single quotes. The index may hold a row twice: SELECT DISTINCT. No recursion, no functions that make large values, two whole tables at most against each other. If a notebook may not be read, its rows do not exist: name tables without main., and use LIKE instead of MATCH and no rowid.

\`query_sql(stmt, maxRows=200)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| stmt | string | required |  | one SELECT of SQLite (also sql) |
| maxRows | integer | optional | 200 | most rows that are returned |

- Needs: no level: the statement sees only the rows of notebooks that may be read
- Kind: reads
- Endpoints: query/sql, sqlite/flushTransaction, notebook/lsNotebooks

### Result

- \`data\`: rows, each an object of its columns
- \`total\`: how many rows, where all are shown
- \`showing\`: how many are shown
- \`truncated\`: whether there are more than maxRows
- \`hint\`: what to do about it

### Example

MCP:

\`\`\`json
{"action":"query_sql","stmt":"SELECT DISTINCT id, hpath, content FROM blocks WHERE type='d' ORDER BY updated DESC","maxRows":20}
\`\`\`

Terminal:

\`\`\`sh
collie search query-sql 'SELECT DISTINCT id, hpath, content FROM blocks WHERE type='\\''d'\\'' ORDER BY updated DESC' --max-rows 20
\`\`\`

## search(action="get_backlinks")

List the blocks that refer to a block or document, or mention it.

Of a document, references to any block in it count. Links come from the index, the latest first; mentions are searched in 20 documents at most. refTreeID looks into one document only.

\`get_backlinks(id, mode=both, keyword?, refTreeID?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block or document |
| mode | string | optional | both | links refer to it, mentions only name it: links, mentions, both |
| keyword | string | optional |  | only what contains this text |
| refTreeID | string | optional |  | only what is in this document (also scopeRootId) |

- Needs: r on block id, r on document refTreeID
- Kind: reads
- Endpoints: query/sql, filetree/getHPathByID, ref/getBacklink2, ref/getBacklinkDoc, ref/getBackmentionDoc, sqlite/flushTransaction

### Result

- \`mode\`: what was looked for
- \`backlinks\`: blocks that refer to it
- \`backlinks[].id\`: the block
- \`backlinks[].type\`: its type
- \`backlinks[].hPath\`: human path of its document
- \`backlinks[].content\`: its text
- \`backlinks[].target\`: the block that it refers to
- \`backlinks[].anchor\`: what the reference shows (with verbose:true)
- \`backlinks[].rootID\`: its document
- \`backlinks[].box\`: its notebook (with verbose:true)
- \`backmentions\`: blocks that name it without referring to it, in the same form
- \`backmentions[].anchor\`: what the reference shows (with verbose:true)
- \`backmentions[].box\`: its notebook (with verbose:true)
- \`fallbackUsed\`: the links come from the index, since the kernel's own list was missing
- \`sourcePayloadMissing\`: the kernel gave no list of its own
- \`incomplete\`: there are more
- \`hint\`: what to do about it

### Example

MCP:

\`\`\`json
{"action":"get_backlinks","id":"20240101120000-abcdefg","mode":"links"}
\`\`\`

Terminal:

\`\`\`sh
collie search get-backlinks 20240101120000-abcdefg --mode links
\`\`\`

## search(action="search_refs")

Find blocks to refer to from a block, as the editor does after ((.

Without k nothing is searched. get_backlinks lists what refers to a block already.

\`search_refs(id, rootID?, k?, beforeLen=512, isSquareBrackets?, isDatabase?, reqId=0)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| id | string | required |  | block that the reference is to stand in |
| rootID | string | optional |  | its document; found out if not given |
| k | string | optional |  | words to look for (also keyword, query) |
| beforeLen | integer | optional | 512 | characters kept before a match |
| isSquareBrackets | boolean | optional |  | as for [[, documents first |
| isDatabase | boolean | optional |  | as for a database, to bind blocks |
| reqId | integer | optional | 0 | number of the request |

- Needs: r on block id, r on document rootID
- Kind: reads
- Endpoints: search/searchRefBlock, search/fullTextSearchBlock, sqlite/flushTransaction, notebook/lsNotebooks, query/sql

### Result

- \`data\`: blocks that were found
- \`data[].id\`: id of the block
- \`data[].type\`: NodeParagraph, NodeHeading, NodeDocument, …
- \`data[].subtype\`: h1 to h6 of a heading, u, o or t of a list
- \`data[].hPath\`: human path of its document in its notebook
- \`data[].fsPath\`: the same with the notebook, as fs takes it
- \`data[].plainContent\`: its text; of a long one what is around the matches
- \`data[].name\`: its name, alias, memo and tags, where it has them
- \`data[].children\`: of a document, where hits are grouped: those in it, in the same form
- \`data[].children[].box\`: its notebook (with verbose:true)
- \`data[].children[].rootID\`: its document (with verbose:true)
- \`data[].children[].parentID\`: the block above it (with verbose:true)
- \`data[].children[].path\`: storage path of its document (with verbose:true)
- \`data[].children[].excerpt\`: the first 200 characters (with verbose:true)
- \`data[].children[].content\`: its text as HTML with \\<mark> around matches (with verbose:true)
- \`data[].children[].markdown\`: its Markdown, 400 characters at most (with verbose:true)
- \`data[].children[].refText\`: what a reference to it would show (with verbose:true)
- \`data[].box\`: its notebook (with verbose:true)
- \`data[].rootID\`: its document (with verbose:true)
- \`data[].parentID\`: the block above it (with verbose:true)
- \`data[].path\`: storage path of its document (with verbose:true)
- \`data[].excerpt\`: the first 200 characters (with verbose:true)
- \`data[].content\`: its text as HTML with \\<mark> around matches (with verbose:true)
- \`data[].markdown\`: its Markdown, 400 characters at most (with verbose:true)
- \`data[].refText\`: what a reference to it would show (with verbose:true)
- \`blocks\`: the same as data (with verbose:true)
- \`total\`: how many

### Example

MCP:

\`\`\`json
{"action":"search_refs","id":"20240101120000-abcdefg","k":"carrot"}
\`\`\`

Terminal:

\`\`\`sh
collie search search-refs 20240101120000-abcdefg carrot
\`\`\`

## search(action="find_replace")

Replace a text in blocks, at once and without undo.

fulltext finds the blocks. A document's id stands for its title, not for its blocks. keyword takes no notice of upper and lower case. regex is RE2, $1 stands for a group. replaceTypes: aHref aText aTitle blockRef code codeBlock docTitle em fileAnnotationRef htmlBlock imgSrc imgText imgTitle inlineMath inlineMemo kbd mark mathBlock s strong sub sup tag text u. changed counts the blocks that changed, of 50 at most.

\`find_replace(k, r, ids, method=keyword, paths?, replaceTypes?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| k | string | required |  | text to find, or a pattern with method regex (also find) |
| r | string | required |  | text to put in its place (also replace) |
| ids | string[] | required |  | blocks to replace in; of a document its title (also id) |
| method | string | optional | keyword | how k is meant: keyword, query_syntax, regex (also methodName) |
| paths | string[] | optional |  | all of ids must be in these: notebook ids, or \\<notebook>/\\<storage path>.sy |
| replaceTypes | object | optional |  | kinds of text to replace in; without it what people read |

- Needs: rw on block ids, rw on notebook of paths
- Kind: changes in many places; a person confirms it
- Endpoints: search/findReplace, block/getBlockKramdowns, block/getBlockDOMs, block/updateBlock, block/getBlockInfo, query/sql, sqlite/flushTransaction, notebook/lsNotebooks

### Result

- \`success\`: true
- \`replaced\`: whether anything changed, as far as that was counted
- \`changed\`: blocks that changed; only of 50 at most
- \`ids\`: blocks that were looked at
- \`k\`: as given (with verbose:true)
- \`r\`: as given (with verbose:true)
- \`warning\`: if nothing changed

### Example

MCP:

\`\`\`json
{"action":"find_replace","k":"colour","r":"color","ids":["20240101120000-abcdefg"]}
\`\`\`

Terminal:

\`\`\`sh
collie search find-replace --k colour --r color --ids 20240101120000-abcdefg
\`\`\`

## search(action="search_assets")

Find assets (images, files) by their names.

If a notebook may not be read, only assets are listed that notebooks use which may be.

\`search_assets(query?, exts?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| query | string | optional |  | part of the file name; empty for all (also k, keyword) |
| exts | string[] | optional |  | file types such as .png |

- Needs: no level: assets that only notebooks use which may not be read are left out
- Kind: reads
- Endpoints: search/searchAsset, query/sql, sqlite/flushTransaction, file/readDir, file/getFile, notebook/lsNotebooks

### Result

- \`data\`: assets, the newest first
- \`data[].name\`: file name without its id
- \`data[].path\`: path as documents write it
- \`data[].updated\`: time of the last change, in seconds (with verbose:true)
- \`total\`: how many

### Example

MCP:

\`\`\`json
{"action":"search_assets","query":"diagram","exts":[".png",".svg"]}
\`\`\`

Terminal:

\`\`\`sh
collie search search-assets diagram --exts .png --exts .svg
\`\`\`

## search(action="fulltext_asset_content")

Find assets by the text in them: PDF, office files, text.

Either query, or assetId with the id of an entry that was found. A new file is found some seconds later. If a notebook may not be read, only assets are found that notebooks use which may be.

\`fulltext_asset_content(query?, assetId?, queryMethod=keyword, types?, sortBy=relevance_desc, page=1, pageSize=32)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| query | string | optional |  | words in the text of a file (also k) |
| assetId | string | optional |  | id of an entry that was found: show it alone |
| queryMethod | string | optional | keyword | how query is meant, with assetId: keyword, query_syntax, regex (also method, methodName) |
| types | string[] | optional |  | file types such as .pdf, .txt |
| sortBy | string | optional | relevance_desc | order: relevance_desc, relevance_asc, updated_asc, updated_desc (also orderBy) |
| page | integer | optional | 1 | page, from 1 |
| pageSize | integer | optional | 32 | entries a page |

- Needs: no level: assets that only notebooks use which may not be read are left out
- Kind: reads
- Endpoints: search/fullTextSearchAssetContent, search/getAssetContent, query/sql, sqlite/flushTransaction, file/readDir, file/getFile, notebook/lsNotebooks

### Result

- \`data\`: what is on this page
- \`data[].id\`: id of the entry, for assetId
- \`data[].name\`: file name
- \`data[].ext\`: file type (with verbose:true)
- \`data[].path\`: path as documents write it
- \`data[].size\`: size of the file (with verbose:true)
- \`data[].updated\`: time of the last change, in seconds (with verbose:true)
- \`data[].plainContent\`: the part of the text that matches
- \`data[].content\`: the same as HTML with \\<mark> (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`truncated\`: whether the page is shown in part
- \`showing\`: how many are shown (with verbose:true)
- \`hint\`: how to see more
- \`assetContents\`: the same as data (with verbose:true)
- \`incomplete\`: there are too many to look at all

### Example

MCP:

\`\`\`json
{"action":"fulltext_asset_content","query":"invoice 2024","types":[".pdf"]}
\`\`\`

Terminal:

\`\`\`sh
collie search fulltext-asset-content 'invoice 2024' --types .pdf
\`\`\`

## search(action="list_invalid_refs")

List the blocks whose references lead nowhere.

A reference to a block of a closed notebook, or of one that may not be read, counts as one that leads nowhere.

\`list_invalid_refs(page=1, pageSize=32)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| page | integer | optional | 1 | page, from 1 |
| pageSize | integer | optional | 32 | blocks a page |

- Needs: no level: what is in notebooks that may not be read is left out
- Kind: reads
- Endpoints: search/listInvalidBlockRefs, search/fullTextSearchBlock, sqlite/flushTransaction, notebook/lsNotebooks, query/sql

### Result

- \`data\`: what is on this page
- \`data[].id\`: id of the block
- \`data[].type\`: NodeParagraph, NodeHeading, NodeDocument, …
- \`data[].subtype\`: h1 to h6 of a heading, u, o or t of a list
- \`data[].hPath\`: human path of its document in its notebook
- \`data[].fsPath\`: the same with the notebook, as fs takes it
- \`data[].plainContent\`: its text; of a long one what is around the matches
- \`data[].name\`: its name, alias, memo and tags, where it has them
- \`data[].children\`: of a document, where hits are grouped: those in it, in the same form
- \`data[].children[].box\`: its notebook (with verbose:true)
- \`data[].children[].rootID\`: its document (with verbose:true)
- \`data[].children[].parentID\`: the block above it (with verbose:true)
- \`data[].children[].path\`: storage path of its document (with verbose:true)
- \`data[].children[].excerpt\`: the first 200 characters (with verbose:true)
- \`data[].children[].content\`: its text as HTML with \\<mark> around matches (with verbose:true)
- \`data[].children[].markdown\`: its Markdown, 400 characters at most (with verbose:true)
- \`data[].children[].refText\`: what a reference to it would show (with verbose:true)
- \`data[].box\`: its notebook (with verbose:true)
- \`data[].rootID\`: its document (with verbose:true)
- \`data[].parentID\`: the block above it (with verbose:true)
- \`data[].path\`: storage path of its document (with verbose:true)
- \`data[].excerpt\`: the first 200 characters (with verbose:true)
- \`data[].content\`: its text as HTML with \\<mark> around matches (with verbose:true)
- \`data[].markdown\`: its Markdown, 400 characters at most (with verbose:true)
- \`data[].refText\`: what a reference to it would show (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page
- \`truncated\`: whether the page is shown in part
- \`showing\`: how many are shown (with verbose:true)
- \`hint\`: how to see more
- \`paginationMode\`: kernel, or post_filtered_window (with verbose:true)
- \`incomplete\`: there are too many hits to filter all of them
- \`blocks\`: the same as data (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"list_invalid_refs","pageSize":20}
\`\`\`

Terminal:

\`\`\`sh
collie search list-invalid-refs --page-size 20
\`\`\`
`,"../../../docs/reference/siyuan/system.md":`# system

The SiYuan kernel. Begin with bootstrap: notebooks, levels (r, rw, rwd), what is off, first calls.

- [workspace_info](#systemactionworkspace_info): Show the folder of the workspace on the kernel's machine
- [network](#systemactionnetwork): Show whether the kernel uses a proxy, without its credentials
- [conf](#systemactionconf): Look into the kernel's configuration, a little at a time, with secrets hidden
- [notify](#systemactionnotify): Show a message to the person in front of SiYuan
- [get_version](#systemactionget_version): Show the version of the kernel
- [get_current_time](#systemactionget_current_time): Show the kernel's clock
- [bootstrap](#systemactionbootstrap): Show what an agent should know before its first call

## system(action="workspace_info")

Show the folder of the workspace on the kernel's machine.

\`workspace_info()\`

No arguments.

- Needs: no level: it tells nothing of any note
- Kind: reads; a person confirms it; off by default
- Endpoints: system/getWorkspaceInfo

### Result

- \`workspaceDir\`: absolute path
- \`siyuanVer\`: version of the kernel

### Example

MCP:

\`\`\`json
{"action":"workspace_info"}
\`\`\`

Terminal:

\`\`\`sh
collie system workspace-info
\`\`\`

## system(action="network")

Show whether the kernel uses a proxy, without its credentials.

\`network()\`

No arguments.

- Needs: no level: it tells nothing of any note
- Kind: reads
- Endpoints: system/getNetwork

### Result

- \`proxy\`: scheme, host and port; empty without one
- \`configured\`: whether there is one

### Example

MCP:

\`\`\`json
{"action":"network"}
\`\`\`

Terminal:

\`\`\`sh
collie system network
\`\`\`

## system(action="conf")

Look into the kernel's configuration, a little at a time, with secrets hidden.

Begin with the summary, then ask for one keyPath with mode get. If a notebook may not be read, the sections that tell of notes are left out.

\`conf(mode=summary, keyPath?, maxDepth=1, maxItems=12)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| mode | string | optional | summary | summary, or get one key: summary, get |
| keyPath | string | optional |  | such as editor.fontSize or tag.items[0] (also key, path) |
| maxDepth | integer | optional | 1 | levels shown |
| maxItems | integer | optional | 12 | entries shown of each |

- Needs: no level: what tells of notes is left out where some notebook may not be read
- Kind: reads; off by default
- Endpoints: system/getConf, notebook/lsNotebooks

### Result

- \`mode\`: summary or get
- \`totalTopLevelKeys\`: how many there are
- \`topLevelKeys\`: their names
- \`truncatedTopLevelKeys\`: how many are not shown
- \`summary\`: each key as far as maxDepth
- \`keyPath\`: what was asked for
- \`value\`: type, and value, entries or items
- \`hints\`: how to go on

### Example

MCP:

\`\`\`json
{"action":"conf","mode":"get","keyPath":"editor.fontSize"}
\`\`\`

Terminal:

\`\`\`sh
collie system conf --mode get --key-path editor.fontSize
\`\`\`

## system(action="notify")

Show a message to the person in front of SiYuan.

\`notify(msg, level, timeout=7000)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| msg | string | required |  | text (also message) |
| level | string | required |  | kind of message: info, error |
| timeout | integer | optional | 7000 | milliseconds |

- Needs: no level: it tells nothing of any note
- Kind: has an effect outside the notes
- Endpoints: notification/pushMsg, notification/pushErrMsg

### Result

- \`level\`: kind of message
- \`id\`: of the message

### Example

MCP:

\`\`\`json
{"action":"notify","msg":"Done 完成","level":"info"}
\`\`\`

Terminal:

\`\`\`sh
collie system notify --msg 'Done 完成' --level info
\`\`\`

## system(action="get_version")

Show the version of the kernel.

\`get_version()\`

No arguments.

- Needs: no level: it tells nothing of any note
- Kind: reads
- Endpoints: system/version

### Result

- \`version\`: such as 3.7.3

### Example

MCP:

\`\`\`json
{"action":"get_version"}
\`\`\`

Terminal:

\`\`\`sh
collie system get-version
\`\`\`

## system(action="get_current_time")

Show the kernel's clock.

\`get_current_time()\`

No arguments.

- Needs: no level: it tells nothing of any note
- Kind: reads
- Endpoints: system/currentTime

### Result

- \`currentTime\`: milliseconds since 1970
- \`iso\`: the same in RFC 3339, UTC

### Example

MCP:

\`\`\`json
{"action":"get_current_time"}
\`\`\`

Terminal:

\`\`\`sh
collie system get-current-time
\`\`\`

## system(action="bootstrap")

Show what an agent should know before its first call.

\`bootstrap()\`

No arguments.

- Needs: no level: only notebooks that may be read are shown
- Kind: reads
- Endpoints: system/version, notebook/lsNotebooks

### Result

- \`schemaVersion\`: 2
- \`bootstrap\`: true
- \`operation\`: system.bootstrap
- \`connection\`: the connection in use, and how many notebooks may be read and written
- \`version\`: of the kernel and of Collie
- \`notebooks\`: those that may be read, with their levels
- \`restrictedNotebookCount\`: notebooks below rw among those shown
- \`toolConfiguration\`: where the switches come from, and what is off
- \`writeSafety\`: mode of safe writing
- \`capabilities\`: what can be done at all
- \`pathGuide\`: the two kinds of path
- \`nextCalls\`: good first calls
- \`memory\`: the agent's own notes
- \`hints\`: rules worth knowing

### Example

MCP:

\`\`\`json
{"action":"bootstrap"}
\`\`\`

Terminal:

\`\`\`sh
collie system bootstrap
\`\`\`
`,"../../../docs/reference/siyuan/tag.md":`# tag

Tags (#like this#, #with/levels#), written without #. rename and remove reach all notebooks, children too, and need rw or rwd in each that has it.

- [list](#tagactionlist): List tags, or those that contain a text
- [rename](#tagactionrename): Rename a tag, and those below it, in all notes
- [remove](#tagactionremove): Take a tag away from all notes; the text stays

## tag(action="list")

List tags, or those that contain a text.

A tag with levels is written a/b. Only tags of notebooks that may be read are listed.

\`list(query?, sort?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| query | string | optional |  | part of a tag (also k, keyword) |
| sort | integer | optional |  | SiYuan's order 0-7; kept as the user's own |

- Needs: no level: tags are counted over the notebooks that may be read
- Kind: reads
- Endpoints: tag/getTag, system/getConf, query/sql, notebook/lsNotebooks

### Result

- \`tags\`: tags with the number of their uses
- \`tags[].label\`: the whole tag, levels included
- \`tags[].count\`: how often blocks have it
- \`total\`: how many tags

### Example

MCP:

\`\`\`json
{"action":"list","query":"travel"}
\`\`\`

Terminal:

\`\`\`sh
collie tag list --query travel
\`\`\`

## tag(action="rename")

Rename a tag, and those below it, in all notes.

Needs rw in every notebook that has the tag; those with level none keep it. What only looks like it, in code, templates and cells of databases, stays.

\`rename(oldLabel, newLabel)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| oldLabel | string | required |  | tag as it is (also old) |
| newLabel | string | required |  | tag as it shall be (also new) |

- Needs: rw on every notebook that has oldLabel
- Kind: changes in many places; a person confirms it
- Endpoints: tag/renameTag, query/sql, notebook/lsNotebooks, block/getBlockDOMs, block/getBlockDOM, block/getBlockTreeInfos, block/batchUpdateBlock, attr/batchGetBlockAttrs, attr/batchSetBlockAttrs, attr/setBlockAttrs, attr/getBlockAttrs

### Result

- \`success\`: true
- \`oldLabel\`: tag as it was
- \`newLabel\`: tag as it is

### Example

MCP:

\`\`\`json
{"action":"rename","oldLabel":"travel/china","newLabel":"travel/中国"}
\`\`\`

Terminal:

\`\`\`sh
collie tag rename --old-label travel/china --new-label travel/中国
\`\`\`

## tag(action="remove")

Take a tag away from all notes; the text stays.

Needs rwd in every notebook that has the tag or one below it, which stays; notebooks with level none keep the tag.

\`remove(label)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| label | string | required |  | tag |

- Needs: rwd on every notebook that has label
- Kind: changes in many places; a person confirms it
- Endpoints: query/sql, notebook/lsNotebooks, block/getBlockDOMs, block/getBlockDOM, block/getBlockTreeInfos, block/batchUpdateBlock, attr/batchGetBlockAttrs, attr/batchSetBlockAttrs, attr/setBlockAttrs, attr/getBlockAttrs

### Result

- \`success\`: true
- \`label\`: the tag

### Example

MCP:

\`\`\`json
{"action":"remove","label":"travel"}
\`\`\`

Terminal:

\`\`\`sh
collie tag remove --label travel
\`\`\`
`,"../../../docs/reference/siyuan/timeline.md":`# timeline

Earlier states: name one before larger edits, see what changed since, bring a document back.

Off by default: \`collie siyuan config set timeline on\` switches it on.

- [list_nodes](#timelineactionlist_nodes): List named states, newest first
- [create_node](#timelineactioncreate_node): Name the present state, to come back to it later
- [compare_recent](#timelineactioncompare_recent): Show what changed in a document since its last different copy
- [rollback_document](#timelineactionrollback_document): Bring a document back to an earlier state

## timeline(action="list_nodes")

List named states, newest first.

\`list_nodes(scope?, documentId?, page=1, pageSize=50)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| scope | string | optional |  | default: document if documentId is given, else global: global, document, all |
| documentId | string | optional |  | document, for scope document (also id) |
| page | integer | optional | 1 | from 1 |
| pageSize | integer | optional | 50 | nodes a page |

- Needs: r on document documentId, r on every notebook, unless scope is document
- Kind: reads
- Endpoints: repo/getRepoTagSnapshots, notebook/lsNotebooks

### Result

- \`data\`: what is on this page
- \`data[].tag\`: for rollback_document
- \`data[].name\`: its name
- \`data[].scope\`: global or document
- \`data[].documentId\`: of scope document
- \`data[].created\`: when it was made
- \`data[].snapshotId\`: the snapshot (with verbose:true)
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page

### Example

MCP:

\`\`\`json
{"action":"list_nodes","documentId":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie timeline list-nodes --document-id 20260102030405-abcdefg
\`\`\`

## timeline(action="create_node")

Name the present state, to come back to it later.

Do it before larger edits. The whole workspace goes into the snapshot; the node is for one document unless scope is global.

\`create_node(name, scope?, documentId?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| name | string | required |  | what the state is called |
| scope | string | optional |  | default: document if documentId is given, else global: global, document |
| documentId | string | optional |  | document, for scope document (also id) |

- Needs: rw on document documentId, r on every notebook, unless scope is document
- Kind: creates
- Endpoints: repo/createSnapshot, repo/getRepoSnapshots, repo/tagSnapshot, repo/getRepoTagSnapshots, notebook/lsNotebooks, sqlite/flushTransaction

### Result

- \`success\`: true
- \`tag\`: for rollback_document
- \`name\`: its name
- \`scope\`: global or document
- \`documentId\`: of scope document
- \`created\`: when it was made
- \`snapshotId\`: the snapshot (with verbose:true)

### Example

MCP:

\`\`\`json
{"action":"create_node","name":"before the rewrite 改写前","documentId":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie timeline create-node --name 'before the rewrite 改写前' --document-id 20260102030405-abcdefg
\`\`\`

## timeline(action="compare_recent")

Show what changed in a document since its last different copy.

Reads only. SiYuan keeps copies every few minutes of editing; one that was just made shows after some seconds.

\`compare_recent(documentId, page=1, pageSize=20)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| documentId | string | required |  | document (also id) |
| page | integer | optional | 1 | from 1 |
| pageSize | integer | optional | 20 | changes a page |

- Needs: r on document documentId
- Kind: reads
- Endpoints: history/searchHistory, history/getHistoryItems, history/getDocHistoryContent, block/getBlockDOM, block/getChildBlocks, sqlite/flushTransaction, query/sql

### Result

- \`documentId\`: the document
- \`found\`: whether one of the last 5 copies differs from now
- \`checkpoints\`: copies that were looked at
- \`historyPath\`: the copy, for rollback_document
- \`created\`: when it was made
- \`summary\`: changes by kind: added, removed, changed, moved
- \`data\`: what is on this page
- \`data[].kind\`: added means: since the copy
- \`data[].id\`: the block
- \`data[].type\`: its type
- \`data[].before\`: text in the copy, up to 400 characters
- \`data[].after\`: text now
- \`data[].formatOnly\`: the text is the same
- \`total\`: how many there are on all pages
- \`page\`: this page, from 1
- \`pageSize\`: how many a page holds
- \`pageCount\`: how many pages there are
- \`hasNextPage\`: whether there is another page

### Example

MCP:

\`\`\`json
{"action":"compare_recent","documentId":"20260102030405-abcdefg"}
\`\`\`

Terminal:

\`\`\`sh
collie timeline compare-recent --document-id 20260102030405-abcdefg
\`\`\`

## timeline(action="rollback_document")

Bring a document back to an earlier state.

Give historyPath or tag. The present state is kept in the history of the document first.

\`rollback_document(documentId, historyPath?, tag?)\`

| argument | type | | default | meaning |
|---|---|---|---|---|
| documentId | string | required |  | document (also id) |
| historyPath | string | optional |  | a copy, from compare_recent |
| tag | string | optional |  | or a node, from list_nodes |

- Needs: rwd on document documentId, r on every notebook, for a global tag
- Kind: changes or removes; a person confirms it; off by default
- Endpoints: block/getBlockDOM, block/getChildBlocks, history/getDocHistoryContent, file/getFile, history/createDocHistory, history/rollbackDocHistory, repo/getRepoTagSnapshots, repo/createSnapshot, repo/getRepoSnapshots, repo/diffRepoSnapshots, repo/openRepoSnapshotFile, repo/rollbackRepoSnapshotFile, block/getBlockKramdown, filetree/listDocsByPath, sqlite/flushTransaction, notebook/lsNotebooks

### Result

- \`success\`: true
- \`documentId\`: the document
- \`historyPath\`: where it was brought back from
- \`tag\`: or the node
- \`undone\`: changes that are gone, by kind: added, removed, changed, moved
- \`hint\`: the way back to what was before

### Example

MCP:

\`\`\`json
{"action":"rollback_document","documentId":"20260102030405-abcdefg","historyPath":"/history/2026-01-02-030405-update/20260101000000-abcdefg/20260102030405-abcdefg.sy"}
\`\`\`

Terminal:

\`\`\`sh
collie timeline rollback-document --document-id 20260102030405-abcdefg --history-path /history/2026-01-02-030405-update/20260101000000-abcdefg/20260102030405-abcdefg.sy
\`\`\`
`,"../../../docs/reference/vault/endpoints.md":`# The vault against the kernel

Made by a replay of the recordings of a SiYuan kernel; \`go generate ./test/vault\` writes it.
In scope is every recorded step of an endpoint that an action of the tools calls. A step is the same when status, code,
kinds, keys and values are, ids and times mapped. Steps named \`scenario#number\` stand in the recordings.

| steps in scope | same | differ | excused | same of those not excused | same of all |
|---:|---:|---:|---:|---:|---:|
| 1273 | 1173 | 43 | 57 | 96.5 % | 92.1 % |

## Endpoints

| endpoint | steps | same | differ | excused | why |
|---|---:|---:|---:|---:|---|
| asset/getDocAssets | 3 | 3 | 0 | 0 |  |
| asset/getDocImageAssets | 1 | 1 | 0 | 0 |  |
| asset/getImageOCRText | 3 | 3 | 0 | 0 |  |
| asset/getUnusedAssets | 2 | 1 | 0 | 1 | came in no order: that of a map, or of ids made within one second |
| asset/removeUnusedAsset | 5 | 3 | 2 | 0 | danger 4: the kernel deletes any file; the vault refuses what is not an asset or template |
| asset/renameAsset | 4 | 4 | 0 | 0 |  |
| asset/resolveAssetPath | 2 | 2 | 0 | 0 |  |
| asset/upload | 17 | 16 | 0 | 1 | names the folder of the recorded kernel's workspace |
| attr/batchGetBlockAttrs | 3 | 2 | 1 | 0 | a batch that fails leaves nothing behind in the vault; the kernel keeps what came before the bad entry |
| attr/batchSetBlockAttrs | 2 | 2 | 0 | 0 |  |
| attr/getBlockAttrs | 23 | 20 | 3 | 0 | a batch that fails leaves nothing behind in the vault; the kernel keeps what came before the bad entry; the kernel names the database as it was called when the row was added, the vault as it is called; the kernel shows the title from before the notebook was renamed |
| attr/setBlockAttrs | 30 | 30 | 0 | 0 |  |
| av/duplicateAttributeViewBlock | 2 | 2 | 0 | 0 |  |
| av/getAttributeView | 8 | 7 | 0 | 1 | came in no order: that of a map, or of ids made within one second |
| av/getAttributeViewFilterSort | 4 | 4 | 0 | 0 |  |
| av/getAttributeViewKeysByAvID | 1 | 1 | 0 | 0 |  |
| av/getAttributeViewPrimaryKeyValues | 3 | 3 | 0 | 0 |  |
| av/getMirrorDatabaseBlocks | 1 | 1 | 0 | 0 |  |
| av/renderAttributeView | 21 | 21 | 0 | 0 |  |
| av/searchAttributeView | 4 | 4 | 0 | 0 |  |
| block/appendBlock | 44 | 42 | 1 | 1 | the kernel was started for reading only; a notebook is closed at once in the vault; the kernel takes writes for a moment longer |
| block/appendDailyNoteBlock | 6 | 6 | 0 | 0 |  |
| block/batchInsertBlock | 2 | 2 | 0 | 0 |  |
| block/batchUpdateBlock | 4 | 4 | 0 | 0 |  |
| block/deleteBlock | 13 | 13 | 0 | 0 |  |
| block/foldBlock | 4 | 4 | 0 | 0 |  |
| block/getBlockBreadcrumb | 3 | 3 | 0 | 0 |  |
| block/getBlockDOM | 2 | 2 | 0 | 0 |  |
| block/getBlockDOMs | 1 | 1 | 0 | 0 |  |
| block/getBlockInfo | 6 | 6 | 0 | 0 |  |
| block/getBlockKramdown | 38 | 33 | 5 | 0 | the kernel writes the marker of an item that was inserted as a paragraph as control characters; a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji; danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| block/getBlockKramdowns | 1 | 1 | 0 | 0 |  |
| block/getBlockTreeInfos | 1 | 1 | 0 | 0 |  |
| block/getBlocksWordCount | 3 | 3 | 0 | 0 |  |
| block/getChildBlocks | 57 | 52 | 3 | 2 | deleteBlock answers before the kernel has deleted; a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji; the kernel's index lagged behind; that of the vault never does; danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| block/getDocInfo | 7 | 6 | 0 | 1 | came in no order: that of a map, or of ids made within one second |
| block/getDocsInfo | 3 | 3 | 0 | 0 |  |
| block/getRecentUpdatedBlocks | 2 | 0 | 0 | 2 | came in no order: that of a map, or of ids made within one second |
| block/insertBlock | 9 | 9 | 0 | 0 |  |
| block/moveBlock | 7 | 7 | 0 | 0 |  |
| block/prependBlock | 3 | 3 | 0 | 0 |  |
| block/prependDailyNoteBlock | 1 | 1 | 0 | 0 |  |
| block/transferBlockRef | 4 | 4 | 0 | 0 |  |
| block/unfoldBlock | 2 | 2 | 0 | 0 |  |
| block/updateBlock | 16 | 15 | 1 | 0 | a notebook is closed at once in the vault; the kernel takes writes for a moment longer |
| export/exportMdContent | 9 | 6 | 0 | 3 | the kernel's index lagged behind; that of the vault never does; rows of the kernel's index were doubled |
| export/exportResources | 6 | 3 | 0 | 3 | the name of an export begins with a random number |
| file/getFile | 32 | 21 | 7 | 4 | danger 4: the kernel deletes any file; the vault refuses what is not an asset or template; the kernel was started with an access code; came in no order: that of a map, or of ids made within one second; a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji; the name of an export begins with a random number; a write that is refused leaves nothing behind in the vault; a file made by an endpoint that no tool calls; danger 5: the kernel made documents that no listing shows; in sort.json the kernel gives the document of the notebook a number; danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses; in sort.json the kernel gives the document of the notebook a number |
| file/putFile | 24 | 24 | 0 | 0 |  |
| file/readDir | 24 | 20 | 3 | 1 | keys, certificates and decks are not files in the vault; danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing; shows what other scenarios left |
| filetree/changeSort | 2 | 2 | 0 | 0 |  |
| filetree/createDailyNote | 11 | 11 | 0 | 0 |  |
| filetree/createDocWithMd | 70 | 69 | 0 | 1 | its request was too long to keep |
| filetree/doc2Heading | 5 | 4 | 1 | 0 | danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| filetree/duplicateDoc | 3 | 3 | 0 | 0 |  |
| filetree/getDoc | 7 | 6 | 1 | 0 | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| filetree/getHPathByID | 22 | 22 | 0 | 0 |  |
| filetree/getIDsByHPath | 12 | 11 | 1 | 0 | a document that is refused leaves no parents behind in the vault |
| filetree/getPathByID | 25 | 25 | 0 | 0 |  |
| filetree/heading2Doc | 3 | 3 | 0 | 0 |  |
| filetree/listDocsByPath | 20 | 18 | 2 | 0 | in the vault a file is not a document before upsertIndexes; danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing |
| filetree/moveDocsByID | 7 | 7 | 0 | 0 |  |
| filetree/removeDocByID | 9 | 8 | 1 | 0 | danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing |
| filetree/renameDocByID | 7 | 7 | 0 | 0 |  |
| filetree/searchDocs | 7 | 7 | 0 | 0 |  |
| filetree/setDocSortMode | 1 | 1 | 0 | 0 |  |
| filetree/upsertIndexes | 1 | 1 | 0 | 0 |  |
| history/createDocHistory | 4 | 4 | 0 | 0 |  |
| history/getDocHistoryContent | 5 | 5 | 0 | 0 |  |
| history/getHistoryItems | 4 | 4 | 0 | 0 |  |
| history/rollbackDocHistory | 5 | 5 | 0 | 0 |  |
| history/searchHistory | 5 | 4 | 0 | 1 | shows what other scenarios left |
| lute/spinBlockDOM | 1 | 1 | 0 | 0 |  |
| notebook/closeNotebook | 6 | 6 | 0 | 0 |  |
| notebook/createNotebook | 42 | 41 | 0 | 1 | the kernel was started for reading only |
| notebook/getNotebookConf | 8 | 8 | 0 | 0 |  |
| notebook/lsNotebooks | 37 | 29 | 5 | 3 | nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins; the kernel was started with an access code; the vault counts no cards by notebook |
| notebook/openNotebook | 5 | 5 | 0 | 0 |  |
| notebook/removeNotebook | 11 | 11 | 0 | 0 |  |
| notebook/renameNotebook | 8 | 8 | 0 | 0 |  |
| notebook/setNotebookConf | 10 | 10 | 0 | 0 |  |
| notebook/setNotebookIcon | 5 | 5 | 0 | 0 |  |
| notification/pushErrMsg | 2 | 2 | 0 | 0 |  |
| notification/pushMsg | 9 | 9 | 0 | 0 |  |
| outline/getDocOutline | 8 | 8 | 0 | 0 |  |
| query/sql | 105 | 83 | 5 | 17 | rows of the kernel's index were doubled; the kernel was started with an access code; the kernel was started for reading only; the text of a database is not content of its block in the vault; the kernel counts invisible characters behind tags and keys as length; a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji; the kernel's index lagged behind; that of the vault never does; the kernel was down and gave no answer; follows swapBlockRef, which no tool calls; the kernel had been killed and was rebuilding its index; follows setSearch, which no tool calls; the tables of the kernel for full text and embeddings are its own; the version of SQLite; nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins |
| ref/getBacklink2 | 4 | 4 | 0 | 0 |  |
| ref/getBacklinkDoc | 5 | 5 | 0 | 0 |  |
| ref/getBackmentionDoc | 2 | 2 | 0 | 0 |  |
| repo/createSnapshot | 6 | 6 | 0 | 0 |  |
| repo/diffRepoSnapshots | 4 | 4 | 0 | 0 |  |
| repo/getRepoSnapshots | 5 | 3 | 0 | 2 | counts the files of other scenarios and names the machine |
| repo/getRepoTagSnapshots | 3 | 2 | 0 | 1 | counts the files of other scenarios and names the machine |
| repo/openRepoSnapshotFile | 2 | 2 | 0 | 0 |  |
| repo/rollbackRepoSnapshotFile | 2 | 2 | 0 | 0 |  |
| repo/tagSnapshot | 5 | 5 | 0 | 0 |  |
| riff/addRiffCards | 7 | 7 | 0 | 0 |  |
| riff/getNotebookRiffDueCards | 2 | 2 | 0 | 0 |  |
| riff/getRiffCards | 10 | 8 | 0 | 2 | the kernel's index lagged behind; that of the vault never does |
| riff/getRiffDecks | 3 | 3 | 0 | 0 |  |
| riff/getRiffDueCards | 10 | 9 | 0 | 1 | came in no order: that of a map, or of ids made within one second |
| riff/getTreeRiffDueCards | 2 | 2 | 0 | 0 |  |
| riff/removeRiffCards | 3 | 3 | 0 | 0 |  |
| riff/reviewRiffCard | 8 | 8 | 0 | 0 |  |
| riff/skipReviewRiffCard | 2 | 2 | 0 | 0 |  |
| search/findReplace | 10 | 10 | 0 | 0 |  |
| search/fullTextSearchAssetContent | 3 | 3 | 0 | 0 |  |
| search/fullTextSearchBlock | 41 | 39 | 0 | 2 | the kernel was down and gave no answer; came in no order: that of a map, or of ids made within one second |
| search/getAssetContent | 1 | 1 | 0 | 0 |  |
| search/listInvalidBlockRefs | 3 | 3 | 0 | 0 |  |
| search/searchAsset | 4 | 2 | 0 | 2 | came in no order: that of a map, or of ids made within one second; shows what other scenarios left, in no order |
| search/searchRefBlock | 5 | 5 | 0 | 0 |  |
| search/searchTemplate | 6 | 6 | 0 | 0 |  |
| sqlite/flushTransaction | 72 | 71 | 0 | 1 | the kernel was down and gave no answer |
| system/bootProgress | 5 | 4 | 0 | 1 | the kernel had been killed and was rebuilding its index |
| system/currentTime | 2 | 2 | 0 | 0 |  |
| system/getConf | 1 | 0 | 1 | 0 | the configuration names the machine, its tokens and counts |
| system/getNetwork | 2 | 2 | 0 | 0 |  |
| system/getWorkspaceInfo | 2 | 2 | 0 | 0 |  |
| system/version | 8 | 7 | 0 | 1 | the kernel was down and gave no answer |
| tag/getTag | 5 | 5 | 0 | 0 |  |
| tag/renameTag | 6 | 6 | 0 | 0 |  |
| template/render | 10 | 9 | 0 | 1 | the kernel's index lagged behind; that of the vault never does |
| template/renderSprig | 8 | 8 | 0 | 0 |  |
| transactions | 29 | 29 | 0 | 0 |  |

## Steps that differ

The vault answers otherwise, on purpose or for want of something. They count as different.

| step | endpoint | what it was | why |
|---|---|---|---|
| assets#65 | asset/removeUnusedAsset | remove traversal | danger 4: the kernel deletes any file; the vault refuses what is not an asset or template |
| assets#66 | file/getFile | victim after traversal | danger 4: the kernel deletes any file; the vault refuses what is not an asset or template |
| assets#67 | asset/removeUnusedAsset | remove not an asset | danger 4: the kernel deletes any file; the vault refuses what is not an asset or template |
| attrs#45 | attr/batchGetBlockAttrs | batch get after | a batch that fails leaves nothing behind in the vault; the kernel keeps what came before the bad entry |
| attrs#47 | attr/getBlockAttrs | get after reset | a batch that fails leaves nothing behind in the vault; the kernel keeps what came before the bad entry |
| auth#3 | notebook/lsNotebooks | wrong token | nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins |
| auth#8 | notebook/lsNotebooks | wrong token in query | nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins |
| auth#9 | notebook/lsNotebooks | foreign origin | nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins |
| auth#12 | notebook/lsNotebooks | X-Forwarded-Host foreign | nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins |
| av#106 | attr/getBlockAttrs | attrs of bound block | the kernel names the database as it was called when the row was added, the vault as it is called |
| av#170 | query/sql | sql av blocks | the text of a database is not content of its block in the vault |
| blocks#108 | block/getBlockKramdown | kramdown of tasks | the kernel writes the marker of an item that was inserted as a paragraph as control characters |
| blocks_rich#5 | block/getChildBlocks | children | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| blocks_rich#6 | block/getBlockKramdown | kramdown | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| blocks_rich#7 | block/getBlockKramdown | kramdown textmark | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| blocks_rich#8 | filetree/getDoc | getDoc | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| blocks_rich#12 | query/sql | sql blocks of doc | the kernel counts invisible characters behind tags and keys as length |
| blocks_rich#13 | query/sql | sql spans of doc | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| blocks_rich#18 | file/getFile | .sy on disk | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| files#36 | file/readDir | read conf dir | keys, certificates and decks are not files in the vault |
| files#43 | file/getFile | get after bad modTime | a write that is refused leaves nothing behind in the vault |
| files#72 | filetree/listDocsByPath | list docs after raw write | in the vault a file is not a document before upsertIndexes |
| filetree#85 | file/getFile | sort.json on disk | danger 5: the kernel made documents that no listing shows; in sort.json the kernel gives the document of the notebook a number |
| filetree#115 | filetree/doc2Heading | doc to heading with a DOCUMENT as target | danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| filetree#117 | block/getChildBlocks | children of merge dst | danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| filetree#118 | block/getBlockKramdown | kramdown of merge dst | danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| filetree#119 | file/getFile | merge dst on disk | danger 3: the kernel destroys a document that is named as the block to put another one at; the vault refuses |
| history_repo#30 | file/readDir | files after the second rollback | danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing |
| history_repo#32 | filetree/listDocsByPath | list docs after the second rollback | danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing |
| history_repo#33 | filetree/removeDocByID | remove fails now | danger 2: the kernel loses the file of a document that is brought back to what it is; the vault does nothing |
| kernel_exit#14 | block/appendBlock | append | a notebook is closed at once in the vault; the kernel takes writes for a moment longer |
| kernel_exit#15 | block/updateBlock | update | a notebook is closed at once in the vault; the kernel takes writes for a moment longer |
| limits#22 | filetree/getIDsByHPath | parents left behind | a document that is refused leaves no parents behind in the vault |
| notebook_document#19 | attr/getBlockAttrs | attrs after rename | the kernel shows the title from before the notebook was renamed |
| riff#62 | notebook/lsNotebooks | notebooks for flashcards | the vault counts no cards by notebook |
| riff#72 | file/readDir | files of riff | keys, certificates and decks are not files in the vault |
| samples#8 | block/getChildBlocks | rich children | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| samples#25 | file/getFile | sort file | in sort.json the kernel gives the document of the notebook a number |
| samples#29 | block/getBlockKramdown | rich kramdown | a single ^ or ~ and names of emoji are text in the vault; the kernel reads x^2^, H~2~O and :smile: as raised, lowered text and an emoji |
| sql#2 | query/sql | tables | the tables of the kernel for full text and embeddings are its own |
| system#7 | system/getConf | getConf | the configuration names the machine, its tokens and counts |
| system#46 | query/sql | OPTIONS preflight | nothing reaches the vault but the program it is part of, so that it has no tokens and looks at no origins |
| templates#41 | file/getFile | victim after removeTemplate | danger 4: the kernel deletes any file; the vault refuses what is not an asset or template |

## Steps that are excused

No kernel would answer like that again, or only by chance. They do not count.

| step | endpoint | what it was | why |
|---|---|---|---|
| assets#11 | asset/upload | upload traversal dir | names the folder of the recorded kernel's workspace |
| assets#49 | asset/getUnusedAssets | unused | came in no order: that of a map, or of ids made within one second |
| assets#52 | search/searchAsset | search asset exts | came in no order: that of a map, or of ids made within one second |
| attrs#10 | query/sql | sql ial column | rows of the kernel's index were doubled |
| auth#17 | notebook/lsNotebooks | locked: no token | the kernel was started with an access code |
| auth#18 | notebook/lsNotebooks | locked: no token, browser UA, POST | the kernel was started with an access code |
| auth#20 | query/sql | locked: wrong token | the kernel was started with an access code |
| auth#31 | notebook/lsNotebooks | locked: after logout | the kernel was started with an access code |
| auth#33 | file/getFile | locked: getFile no token | the kernel was started with an access code |
| auth#35 | notebook/createNotebook | readonly: create notebook | the kernel was started for reading only |
| auth#36 | block/appendBlock | readonly: append | the kernel was started for reading only |
| auth#37 | query/sql | readonly: sql | the kernel was started for reading only |
| av#167 | av/getAttributeView | final | came in no order: that of a map, or of ids made within one second |
| av#168 | file/getFile | av file | came in no order: that of a map, or of ids made within one second |
| blocks#86 | block/getRecentUpdatedBlocks | recent updated before flush | came in no order: that of a map, or of ids made within one second |
| blocks#88 | block/getRecentUpdatedBlocks | recent updated | came in no order: that of a map, or of ids made within one second |
| blocks#121 | block/getChildBlocks | children of one right after | deleteBlock answers before the kernel has deleted |
| blocks_rich#10 | export/exportMdContent | export md | the kernel's index lagged behind; that of the vault never does |
| closed_notebook#41 | query/sql | sql after reopen | the kernel's index lagged behind; that of the vault never does |
| closed_notebook#42 | block/getChildBlocks | children right after reopen | the kernel's index lagged behind; that of the vault never does |
| export#8 | export/exportMdContent | md content rich | rows of the kernel's index were doubled |
| export#9 | export/exportMdContent | md content options | rows of the kernel's index were doubled |
| export#25 | export/exportResources | export resources | the name of an export begins with a random number |
| export#26 | file/getFile | get resources zip | the name of an export begins with a random number |
| export#27 | export/exportResources | export resources no name | the name of an export begins with a random number |
| export#28 | export/exportResources | export resources empty | the name of an export begins with a random number |
| files#58 | file/getFile | get zip | a file made by an endpoint that no tool calls |
| history_repo#13 | history/searchHistory | search history no params | shows what other scenarios left |
| history_repo#46 | file/readDir | history dir | shows what other scenarios left |
| history_repo#61 | repo/getRepoSnapshots | list | counts the files of other scenarios and names the machine |
| history_repo#68 | repo/getRepoSnapshots | list 2 | counts the files of other scenarios and names the machine |
| history_repo#74 | repo/getRepoTagSnapshots | tags | counts the files of other scenarios and names the machine |
| kernel_exit#32 | sqlite/flushTransaction | flush | the kernel was down and gave no answer |
| kernel_exit#33 | query/sql | sql after close | the kernel was down and gave no answer |
| kernel_exit#34 | search/fullTextSearchBlock | fulltext | the kernel was down and gave no answer |
| limits#25 | filetree/createDocWithMd | create a doc from 480 kB markdown (20000 paragraphs) | its request was too long to keep |
| refs_tags_outline#11 | block/getDocInfo | doc info with counts | came in no order: that of a map, or of ids made within one second |
| refs_tags_outline#36 | query/sql | refs rows at end | follows swapBlockRef, which no tool calls |
| restart#5 | system/version | while down | the kernel was down and gave no answer |
| restart#6 | system/bootProgress | bootProgress after 0.2 s | the kernel had been killed and was rebuilding its index |
| restart#7 | query/sql | SQL during boot | the kernel had been killed and was rebuilding its index |
| restart#12 | query/sql | sql after restart | the kernel had been killed and was rebuilding its index |
| riff#20 | riff/getRiffCards | cards before flush | the kernel's index lagged behind; that of the vault never does |
| riff#34 | riff/getRiffDueCards | due all | came in no order: that of a map, or of ids made within one second |
| riff#70 | riff/getRiffCards | cards after block removal | the kernel's index lagged behind; that of the vault never does |
| search#26 | search/fullTextSearchBlock | method 2 SQL | came in no order: that of a map, or of ids made within one second |
| search#82 | search/searchAsset | search asset | shows what other scenarios left, in no order |
| settings#13 | query/sql | rows with the new limit | follows setSearch, which no tool calls |
| sql#13 | query/sql | sqlite version | the version of SQLite |
| sql#16 | query/sql | sql right after create | the kernel's index lagged behind; that of the vault never does |
| sql#24 | query/sql | aggregate | rows of the kernel's index were doubled |
| sql#28 | query/sql | total | rows of the kernel's index were doubled |
| sql#33 | query/sql | unnamed column | rows of the kernel's index were doubled |
| sql#62 | query/sql | sql still has it | the kernel's index lagged behind; that of the vault never does |
| sql#66 | query/sql | sql right after doc removal | the kernel's index lagged behind; that of the vault never does |
| sql#77 | query/sql | sql during rebuild | the kernel had been killed and was rebuilding its index |
| templates#13 | template/render | render query template | the kernel's index lagged behind; that of the vault never does |
`});export{e as default};