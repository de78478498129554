"""Runs a command on a terminal of its own and answers its question: terminal.py ANSWER MEANWHILE COMMAND...

MEANWHILE is a command for the shell, which runs once the question is there and before it is answered. Prints what the command wrote to the terminal and exits as it did.
"""

import os
import pty
import subprocess
import sys

answer, meanwhile, command = sys.argv[1], sys.argv[2], sys.argv[3:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
shown = b""
answered = False
while True:
    try:
        part = os.read(terminal, 4096)
    except OSError:  # Linux says so when the other side has closed.
        break
    if not part:
        break
    shown += part
    if not answered and b"[y/N]" in shown:
        answered = True
        subprocess.run(meanwhile, shell=True, check=True)
        os.write(terminal, answer.encode() + b"\n")
sys.stdout.buffer.write(shown)
sys.stdout.flush()
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
