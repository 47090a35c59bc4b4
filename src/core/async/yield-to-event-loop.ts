/** Lets the requests of others run before a long piece of work goes on. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve))
}
