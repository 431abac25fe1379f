import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { Authority } from './authority.ts';

describe('the certificate authority', () => {
  const authority = new Authority('test authority');

  it('issues a leaf that verifies, with its names and groups', () => {
    const { certificate } = authority.issue({
      commonName: 'admin',
      organizations: ['system:masters'],
      hosts: ['localhost', '127.0.0.1'],
    });
    const leaf = new X509Certificate(certificate);
    const root = new X509Certificate(authority.certificate);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.subject).toBe('O=system:masters\nCN=admin');
    expect(leaf.subjectAltName).toBe('DNS:localhost, IP Address:127.0.0.1');
    expect(root.ca).toBe(true);
    expect(leaf.ca).toBe(false);
  });

  it('is trusted in a handshake on both sides', async () => {
    const server = createServer({
      ...keyPair(authority.issue({ commonName: 'server', hosts: ['127.0.0.1'] })),
      ca: authority.certificate,
      requestCert: true,
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const accepted = new Promise<TLSSocket>((resolve) => server.once('secureConnection', resolve));
    const client = connect({
      port,
      host: '127.0.0.1',
      ca: authority.certificate,
      ...keyPair(authority.issue({ commonName: 'client' })),
    });
    await once(client, 'secureConnect');
    const socket = await accepted;
    expect(socket.authorized).toBe(true);
    expect(socket.getPeerCertificate().subject.CN).toBe('client');
    client.destroy();
    server.close();
  });
});

const keyPair = ({ certificate, key }: { certificate: string; key: string }) => ({ cert: certificate, key });
