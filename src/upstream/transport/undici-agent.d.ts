/** Types the direct import of the agent: loading all of undici takes three times the memory and time. */
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}
