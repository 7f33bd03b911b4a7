// Where the person is: #/PAGE or #/PAGE/ARGUMENT. The fragment is never sent to the gateway.

function read(): { page: string; arg: string } {
  const [, page = '', ...rest] = location.hash.slice(1).split('/')
  try {
    return { page: page || 'chat', arg: decodeURIComponent(rest.join('/')) }
  } catch {
    return { page, arg: '' } // somebody has edited the address
  }
}

const state: { page: string; arg: string; chat?: string } = $state(read())

function arrive(): void {
  if (state.page === 'chat') state.chat = state.arg
  Object.assign(state, read())
}

addEventListener('hashchange', arrive)

/** route is the page that is shown, and what of it; chat is the conversation that was shown last. */
export const route: Readonly<{ page: string; arg: string; chat?: string }> = state

/** to returns the address of a page. */
export function to(page: string, arg = ''): string {
  return `#/${page}` + (arg && `/${encodeURIComponent(arg)}`)
}

/** go shows a page. */
export function go(page: string, arg = ''): void {
  location.hash = to(page, arg)
  arrive() // the event comes later
}
