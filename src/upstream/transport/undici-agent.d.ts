/** Types the import of undici's agent alone, because loading all of undici takes three times as much memory and time. */
declare module 'undici/lib/dispatcher/agent.js' {
  import { Agent } from 'undici'
  export default Agent
}
