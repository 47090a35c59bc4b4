/**
 * Lets other events be handled before a long piece of work goes on. Of several pieces of work that wait, one goes on in
 * each pass of the event loop: otherwise all of them would go on in the same pass, and together block it.
 */
export function yieldToEventLoop(): Promise<void> {
  // On Workers, a request whose client has left may stop at any time, so no other request may wait for its turn.
  if (globalThis.navigator?.userAgent === 'Cloudflare-Workers') return waitForNextPass()
  latest = latest.then(waitForNextPass)
  return latest
}

let latest: Promise<void> = Promise.resolve()

function waitForNextPass(): Promise<void> {
  return new Promise((resolve) => void schedule(resolve))
}

/** `setTimeout` would add a millisecond to each step; not every runtime has `setImmediate`. */
const schedule: (callback: () => void) => unknown = globalThis.setImmediate ?? setTimeout
