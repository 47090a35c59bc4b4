/** Only the agent: all of undici takes three times the memory and the time to load. */
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}
