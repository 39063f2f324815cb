package deadheat.spring;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/** A thread that answers every message with the same value. */
final class Worker<T> {
  private final BlockingQueue<BlockingQueue<T>> mailbox = new LinkedBlockingQueue<>();
  private final T answer;

  Worker(String name, T answer) {
    this.answer = answer;
    Thread thread = new Thread(this::work, name);
    thread.setDaemon(true);
    thread.start();
  }

  T ask() throws InterruptedException {
    BlockingQueue<T> reply = new ArrayBlockingQueue<>(1);
    mailbox.put(reply);
    return reply.take();
  }

  private void work() {
    try {
      while (true) {
        mailbox.take().put(answer);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
