// Where the person is: #/PAGE or #/PAGE/ARGUMENT. The fragment is never sent to the gateway.

function read(): { page: string; arg: string } {
  const [, page = '', ...rest] = location.hash.slice(1).split('/')
  try {
    return { page: page || 'chat', arg: decodeURIComponent(rest.join('/')) }
  } catch {
    return { page, arg: '' } // somebody has edited the address
  }
}

const state = $state(read())

addEventListener('hashchange', () => Object.assign(state, read()))

/** route is the page that is shown, and what of it. */
export const route: Readonly<{ page: string; arg: string }> = state

/** to returns the address of a page. */
export function to(page: string, arg = ''): string {
  return `#/${page}` + (arg && `/${encodeURIComponent(arg)}`)
}

/** go shows a page. */
export function go(page: string, arg = ''): void {
  location.hash = to(page, arg)
  Object.assign(state, read()) // the event comes later
}
