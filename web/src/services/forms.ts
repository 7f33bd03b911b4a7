// Forms of servers: the fields of a JSON schema of an object whose properties are plain values.

export interface Field {
  name: string
  title: string
  description: string
  type: string
  format: string
  required: boolean
  /** choices are the values that it may have; none where any will do. */
  choices: { value: string; title: string }[]
  /** start is what stands in it at first. */
  start: string | boolean | string[]
  min?: number
  max?: number
  minLength?: number
  maxLength?: number
}

const texts = (list: unknown): string[] => (Array.isArray(list) ? list.map(String) : [])
const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const number = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)

/** choices are enum with enumNames, and oneOf or anyOf of const with title. */
function choices(schema: any): Field['choices'] {
  const titles = texts(schema?.enumNames)
  const named = [schema?.oneOf, schema?.anyOf].flatMap((list) => (Array.isArray(list) ? list : [])).filter((one) => one?.const !== undefined)
  return [
    ...texts(schema?.enum).map((value, i) => ({ value, title: titles[i] ?? value })),
    ...named.map((one) => ({ value: String(one.const), title: text(one.title) || String(one.const) })),
  ]
}

/** fieldsOf returns the fields of a form, in the order of its schema. */
export function fieldsOf(schema: any): Field[] {
  const required = texts(schema?.required)
  return Object.entries<any>(schema?.properties ?? {}).map(([name, one]) => {
    const type = text(one?.type) || 'string'
    const start = one?.default
    return {
      name, type, title: text(one?.title) || name, description: text(one?.description), format: text(one?.format), required: required.includes(name),
      choices: [...choices(one), ...(type === 'array' ? choices(one?.items) : [])],
      start: type === 'boolean' ? start === true : type === 'array' ? texts(start) : start === undefined ? '' : String(start),
      min: number(one?.minimum), max: number(one?.maximum), minLength: number(one?.minLength), maxLength: number(one?.maxLength),
    }
  })
}

/** valuesOf returns what was filled in, as the types of the fields want it. What is optional and empty is left out. */
export function valuesOf(fields: Field[], typed: Record<string, string | boolean | string[]>): Record<string, unknown> {
  const all: Record<string, unknown> = {}
  for (const f of fields) {
    const value = typed[f.name] ?? f.start
    if (f.type === 'boolean') all[f.name] = value === true
    else if (f.type === 'array') {
      const list = Array.isArray(value) ? value : String(value).split(',').map((one) => one.trim()).filter(Boolean)
      if (list.length || f.required) all[f.name] = list
    } else if (value === '') {
      if (f.required) all[f.name] = ''
    } else if (f.type === 'number' || f.type === 'integer') all[f.name] = Number(value)
    else all[f.name] = f.format === 'date-time' ? new Date(String(value)).toISOString() : value
  }
  return all
}
