<?php

/** @var list<array{id: int, message: string}> $fortunes */

?>
<!DOCTYPE html>
<html>
<head><title>Fortunes</title></head>
<body>
<table>
<tr><th>id</th><th>message</th></tr>
<?php foreach ($fortunes as ['id' => $id, 'message' => $message]) : ?>
<tr><td><?= $id ?></td><td><?= htmlspecialchars($message) ?></td></tr>
<?php endforeach ?>
</table>
</body>
</html>
