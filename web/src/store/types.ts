// The bodies of the API that the pages use; docs/reference/api.md describes them.

export interface Config {
  agent?: string
  engine?: string
  systemPrompt?: string
  model?: string
  provider?: string
}

export interface Session {
  id: string
  title: string
  updatedAt: string
  revision: number
  config: Config
}

export interface Part {
  type: string
  text?: string
  code?: string
  callId?: string
  name?: string
  args?: string
  isError?: boolean
  file?: File
}

/** File is what is attached to a message. */
export interface File {
  name: string
  mime: string
  sha256: string
  size: number
}

export interface Usage {
  input: number
  output: number
  cached?: number
  /** contextUsed is how many tokens the last step read and wrote, of contextSize that the model takes. */
  contextUsed?: number
  contextSize?: number
}

/** Found is a message that a search found. */
export interface Found {
  sessionId: string
  title: string
  messageId: string
  role: string
  excerpt: string
  at: number
}

export interface Call {
  callId: string
  name: string
  state: string
  durationMs?: number
}

export interface Problem {
  type?: string
  message: string
  hint?: string
  /** line and field say where in a text that was sent. */
  line?: number
  field?: string
}

export interface Message {
  id: string
  parentId: string
  role: string
  status: string
  parts: Part[] | null
  calls?: Call[]
  turnId?: string
  model?: string
  error?: Problem
  /** index is its place among the messages that answer the same one, of how many. */
  index: number
  of: number
  usage?: Usage
  costMicros?: number
  finishReason?: string
}

export interface TurnRef {
  turnId: string
  assistantMessageId: string
  state: string
}

export interface View extends Session {
  rootId: string
  path: Message[] | null
  turns?: TurnRef[]
}

/** ServerForm is what a server wants to know from the person in the middle of a call. */
export interface ServerForm {
  message: string
  /** url is a page to be opened instead. */
  url?: string
  schema?: unknown
}

export interface Question {
  id: string
  sessionId?: string
  turnId?: string
  client?: string
  asked: string
  form?: ServerForm
  question: {
    tool: string
    action: string
    effect: string
    why?: string
    targets?: string[]
    args: string
    risk?: string
    name?: string
    /** grants are what may be allowed beyond this one call. */
    grants?: { id: string; scope: string; kind: string; within?: string; expires?: string }[]
  }
}
