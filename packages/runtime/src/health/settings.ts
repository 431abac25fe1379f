import { declare } from '@spotalis/units';

/** Of the servers beside the one a service is there for. */
export const healthSettings = declare({
  metrics: {
    enabled: { format: 'flag', default: true, doc: 'Serve /metrics.' },
    port: { format: 'port', default: 8080, doc: 'Where /metrics is served.' },
  },
  health: {
    port: { format: 'port', default: 8081, doc: 'Where /healthz and /readyz are served.' },
  },
  debug: {
    port: { format: 'port', default: 8082, doc: 'Where /debug/state is served, on 127.0.0.1 only.' },
  },
});
