"""A PostgreSQL server of one test: in a temporary directory, on a free loopback port, as a user without privileges, stopped by its
process id."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

PASSWORD = "correct horse"


def programs():
    """Directory of the newest server programs, or None."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"), key=lambda path: int(path.split("/")[4]))
    return os.path.dirname(found[-1]) if found else None


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    def __init__(self):
        self.programs = programs()
        # A server refuses to run as root.
        self.user = pwd.getpwnam("nobody").pw_name if os.geteuid() == 0 else None
        self.directory = tempfile.mkdtemp()
        self.port = free_port()
        if self.user:
            shutil.chown(self.directory, self.user)
        secret = os.path.join(self.directory, "secret")
        with open(secret, "w") as file:
            file.write(PASSWORD)
        if self.user:
            shutil.chown(secret, self.user)
        data = os.path.join(self.directory, "data")
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": self.directory}
        subprocess.run([f"{self.programs}/initdb", "-D", data, "-U", "tester", "--auth=scram-sha-256", f"--pwfile={secret}", "--no-sync",
                        "-E", "UTF8"], check=True, stdout=subprocess.DEVNULL, user=self.user, env=self.environment, cwd=self.directory)
        self.process = subprocess.Popen(
            [f"{self.programs}/postgres", "-D", data, "-p", str(self.port), "-k", self.directory, "-c", "listen_addresses=127.0.0.1",
             "-c", "fsync=off"], user=self.user, env=self.environment, cwd=self.directory, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for _ in range(600):
            if subprocess.run([f"{self.programs}/pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]).returncode == 0:
                break
            time.sleep(0.1)

    def address(self, rest, user="tester"):
        return f"postgresql://{user}@127.0.0.1:{self.port}/postgres?{rest}"

    def sql(self, text, stdin=None):
        """What psql prints, without decoration."""
        result = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", str(self.port), "-U",
                                 "tester", "-d", "postgres", "-c", text], env={**os.environ, "PGPASSWORD": PASSWORD}, input=stdin,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def stop(self):
        self.process.send_signal(signal.SIGINT)  # ends every session, then the server
        self.process.wait(timeout=60)
        shutil.rmtree(self.directory, ignore_errors=True)
